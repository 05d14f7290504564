//! Work-groups whose work-items share local memory, barriers and atomics; and a sort of many
//! launches.

use super::{Launch, Prepared, Scale, compare_exactly, random};
use brolga_icd_testing::host::{Program, Result, Session};

const GROUP: usize = 256;

pub fn reduce(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let values: Vec<u32> = random(scale.pick(1 << 21, 1 << 10)).collect();
    let input = session.buffer_from(&values)?;
    let partial = session.buffer::<u32>(values.len() / GROUP)?;
    let kernel = program
        .kernel("reduce")?
        .buffer(&input)?
        .buffer(&partial)?
        .local(GROUP * 4)?;
    let global = [values.len()];
    let check = move |session: &Session| {
        let _keep = &input;
        let expected: Vec<u32> = values
            .chunks(GROUP)
            .map(|group| group.iter().fold(0, |sum: u32, v| sum.wrapping_add(*v)))
            .collect();
        compare_exactly("reduce", &session.read(&partial)?, &expected)
    };
    Ok(Prepared::single(kernel, &global, &[GROUP], Box::new(check)))
}

pub fn scan(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let values: Vec<u32> = random(scale.pick(1 << 20, 1 << 10)).collect();
    let input = session.buffer_from(&values)?;
    let sums = session.buffer::<u32>(values.len())?;
    let kernel = program
        .kernel("scan")?
        .buffer(&input)?
        .buffer(&sums)?
        .local(GROUP * 4)?;
    let global = [values.len()];
    let check = move |session: &Session| {
        let _keep = &input;
        let expected: Vec<u32> = values
            .chunks(GROUP)
            .flat_map(|group| {
                group.iter().scan(0_u32, |sum, v| {
                    *sum = sum.wrapping_add(*v);
                    Some(*sum)
                })
            })
            .collect();
        compare_exactly("scan", &session.read(&sums)?, &expected)
    };
    Ok(Prepared::single(kernel, &global, &[GROUP], Box::new(check)))
}

pub fn histogram(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let per_item = 32;
    let values: Vec<u8> = random(scale.pick(1 << 22, 1 << 13))
        // Uneven, like an image's.
        .map(|r| ((r >> 24) & (r >> 16)) as u8)
        .collect();
    let input = session.buffer_from(&values)?;
    let bins = session.buffer_from(&[0_u32; 256])?;
    let kernel = program
        .kernel("histogram")?
        .buffer(&input)?
        .buffer(&bins)?
        .value(per_item as u32)?;
    let global = vec![values.len() / per_item];
    // The bins are shared by both closures.
    let bins = std::rc::Rc::new(bins);
    let reset_bins = bins.clone();
    Ok(Prepared {
        work: None,
        launches: vec![Launch {
            kernel,
            global,
            local: vec![GROUP],
        }],
        reset: Some(Box::new(move |session| {
            session.write(&reset_bins, &[0; 256])
        })),
        check: Box::new(move |session| {
            let _keep = &input;
            let mut expected = vec![0_u32; 256];
            for value in &values {
                expected[usize::from(*value)] += 1;
            }
            compare_exactly("histogram", &session.read(&bins)?, &expected)
        }),
    })
}

pub fn bitonic(session: &Session, program: &Program, scale: Scale) -> Result<Prepared> {
    let n = scale.pick(1 << 16, 1 << 4);
    let values: Vec<u32> = random(n).collect();
    let buffer = std::rc::Rc::new(session.buffer_from(&values)?);
    let mut launches = Vec::new();
    let mut block = 2;
    while block <= n {
        let mut distance = block / 2;
        while distance > 0 {
            let kernel = program
                .kernel("bitonic")?
                .buffer(&buffer)?
                .value(block as u32)?
                .value(distance as u32)?;
            launches.push(Launch {
                kernel,
                global: vec![n / 2],
                local: vec![],
            });
            distance /= 2;
        }
        block *= 2;
    }
    let mut expected = values.clone();
    expected.sort_unstable();
    let sorted = buffer.clone();
    Ok(Prepared {
        work: None,
        launches,
        reset: Some(Box::new(move |session| session.write(&buffer, &values))),
        check: Box::new(move |session| {
            compare_exactly("bitonic", &session.read(&sorted)?, &expected)
        }),
    })
}
