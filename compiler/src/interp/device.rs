//! Instructions that enqueue: `crate::device::Sequence` over the interpreter's memory, a lane at a
//! time; and running what they enqueued.

use super::checks::Kind;
use super::exec::Frame;
use super::ndrange::Launch;
use super::{Error, Interpreter};
use crate::device::{Host, arguments};
use crate::ir::eval::Lanes;
use crate::ir::{DeviceOp, FuncId, Inst};

impl Host for Interpreter<'_> {
    type Error = Error;

    fn read(&mut self, address: u64, to: &mut [u8]) -> Result<(), Error> {
        let size = to.len() as u64;
        self.check(Kind::Read, address, size, 1)?;
        to.copy_from_slice(self.memory.read("enqueue", address, size)?);
        Ok(())
    }

    fn write(&mut self, address: u64, from: &[u8]) -> Result<(), Error> {
        self.check(Kind::Write, address, from.len() as u64, 1)?;
        self.memory.write("enqueue", address, from)
    }
}

impl Interpreter<'_> {
    pub(super) fn device(
        &mut self,
        frame: &mut Frame<'_>,
        inst: Inst,
        what: DeviceOp,
        block: Option<FuncId>,
        masked: bool,
    ) -> Result<(), Error> {
        let data = &frame.func.insts[inst];
        let (operands, mask) = data.args.split_at(data.args.len() - usize::from(masked));
        let mask = mask.first().map_or(&[1][..], |&mask| frame.get(mask));
        let mut results = Lanes::new();
        for (l, &bit) in mask.iter().enumerate() {
            let operand = |value| -> u64 {
                let lanes = frame.get(value);
                lanes[l % lanes.len()]
            };
            let words: Vec<u64> = operands.iter().map(|&value| operand(value)).collect();
            let mut enqueued = std::mem::take(&mut self.enqueued);
            let answer = match bit {
                0 => Ok(0),
                _ => enqueued.call(self, what, block, &words),
            };
            self.enqueued = enqueued;
            results.push(answer?);
        }
        if let Some(&result) = data.results.first() {
            frame.set(result, &results);
        }
        Ok(())
    }

    /// Runs what was enqueued, and what that enqueues, until nothing is left.
    pub(super) fn run_enqueued(&mut self, sub_group_size: u64) -> Result<(), Error> {
        let module = self.module;
        loop {
            let mut enqueued = std::mem::take(&mut self.enqueued);
            let next = enqueued.next(self);
            self.enqueued = enqueued;
            let Some(command) = next? else {
                return Ok(());
            };
            let kernel = module.block(command.block).map(|n| &module.kernels[n]);
            let kernel = kernel.ok_or_else(|| Error::new("what was enqueued is no block"))?;
            let (args, local_mem_size) = arguments(
                &command.literal,
                &command.locals,
                kernel.info.local_mem_size,
            )
            .ok_or_else(|| Error::new("a block is given too much work-group memory"))?;
            let launch = Launch {
                range: command.range,
                args: &args,
                local_mem_size,
                sub_group_size,
            };
            self.run_range(&module.functions[kernel.func], &kernel.params, &launch)?;
        }
    }
}
