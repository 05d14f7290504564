//! The process that measures one driver.
//!
//! Times are seconds of wall-clock time, as an application would see them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use brolga_icd_testing::drivers;
use brolga_icd_testing::host::{Program, Result, Session};
use opencl_sys::{CL_RGBA, CL_UNORM_INT8};
use serde_json::{Value, json};

use crate::limits::Work;
use crate::suite::{BENCHMARKS, Benchmark, Prepared, Scale, Source};
use crate::{builds, functions, local_sizes};

/// Serves until the input ends.
pub fn serve() -> Result<()> {
    let mut worker = Worker::open()?;
    drivers::serve(|request| worker.answer(request))
}

struct Worker {
    session: Session,
    platform: String,
    programs: BTreeMap<Source, Program>,
    /// The benchmark that was measured last, as the next round will ask for others.
    prepared: BTreeMap<&'static str, Prepared>,
    function: Option<functions::Prepared>,
}

impl Worker {
    fn open() -> Result<Self> {
        let (platform, session) = drivers::only_device()?;
        Ok(Worker {
            session,
            platform: platform.name()?,
            programs: BTreeMap::new(),
            prepared: BTreeMap::new(),
            function: None,
        })
    }

    fn answer(&mut self, request: &Value) -> Result<Value> {
        match request["do"].as_str() {
            Some("info") => Ok(json!({
                "platform": self.platform,
                "device": self.session.device_name()?,
                "driver": self.session.driver_version()?,
                "il": self.session.takes_il(),
            })),
            Some("build") => builds::suite(&self.session, request),
            Some("program") => builds::file(&self.session, request),
            Some("function") => functions::answer(&self.session, &mut self.function, request),
            Some("measure") => {
                let name = request["kernel"].as_str().unwrap_or_default();
                let budget = Duration::from_secs_f64(request["seconds"].as_f64().unwrap_or(0.1));
                self.measure(name, budget, &local_sizes::sizes(&request["local"]))
            }
            Some("open size") => self.open_size(request["kernel"].as_str().unwrap_or_default()),
            Some("latency") => self.latency(),
            Some("transfer") => self.transfer(),
            _ => Err(format!("unknown request {request}")),
        }
    }

    fn program(&mut self, source: Source) -> Result<&Program> {
        if !self.programs.contains_key(&source) {
            let program = self.session.build_source(source.text(), "")?;
            self.programs.insert(source, program);
        }
        Ok(&self.programs[&source])
    }

    /// The global size of a benchmark that leaves the local size open; null for others.
    fn open_size(&mut self, name: &str) -> Result<Value> {
        let launches = &self.prepared(name)?.launches;
        let open = launches.iter().all(|launch| launch.local.is_empty());
        Ok(json!(launches.first().filter(|_| open).map(|l| &l.global)))
    }

    /// A benchmark that has been run and checked once.
    fn prepared(&mut self, name: &str) -> Result<&Prepared> {
        let benchmark: &Benchmark = BENCHMARKS
            .iter()
            .find(|b| b.name == name)
            .ok_or_else(|| format!("no benchmark {name}"))?;
        self.program(benchmark.source)?;
        if !self.prepared.contains_key(name) {
            // One at a time, so that memory is not the sum of all.
            self.prepared.clear();
            let program = &self.programs[&benchmark.source];
            let prepared = (benchmark.prepare)(&self.session, program, Scale::Full)?;
            prepared.run(&self.session, &[])?;
            (prepared.check)(&self.session)?;
            self.prepared.insert(benchmark.name, prepared);
        }
        Ok(&self.prepared[name])
    }

    /// Runs a benchmark for about `budget`, at least three times.
    fn measure(&mut self, name: &str, budget: Duration, local: &[usize]) -> Result<Value> {
        self.prepared(name)?;
        let prepared = &self.prepared[name];
        let mut times = Vec::new();
        let start = Instant::now();
        while times.len() < 3 || (start.elapsed() < budget && times.len() < 1000) {
            if let Some(reset) = &prepared.reset {
                reset(&self.session)?;
            }
            let run = Instant::now();
            prepared.run(&self.session, local)?;
            times.push(run.elapsed().as_secs_f64());
        }
        (prepared.check)(&self.session)?;
        let mut answer = summary(&mut times);
        answer["work"] = json!(prepared.work.map(Work::json));
        Ok(answer)
    }

    /// An empty kernel of one work-item: enqueued and waited for; many enqueued before one wait;
    /// from the event that it waits for to the end of the wait for its own; and from the enqueue
    /// until a callback of its event has woken the thread.
    fn latency(&mut self) -> Result<Value> {
        const COUNT: usize = 500;
        let kernel = self.program(Source::Kernels)?.kernel("empty")?;
        let mut times = Vec::new();
        for _ in 0..COUNT {
            let start = Instant::now();
            self.session.launch(&kernel, &[1], &[1])?;
            self.session.finish()?;
            times.push(start.elapsed().as_secs_f64());
        }
        let start = Instant::now();
        for _ in 0..COUNT {
            self.session.launch(&kernel, &[1], &[1])?;
        }
        self.session.finish()?;
        let batched = start.elapsed().as_secs_f64() / COUNT as f64;
        let mut trips = Vec::new();
        for _ in 0..COUNT {
            let waiting = self.session.launch_waiting(&kernel)?;
            let start = Instant::now();
            waiting.go()?;
            trips.push(start.elapsed().as_secs_f64());
        }
        let mut calls = Vec::new();
        for _ in 0..COUNT {
            let start = Instant::now();
            self.session.launch_with_callback(&kernel)?;
            calls.push(start.elapsed().as_secs_f64());
        }
        Ok(json!({
            "single": summary(&mut times),
            "batched": { "best": batched, "median": batched },
            "event": summary(&mut trips),
            "callback": summary(&mut calls),
        }))
    }

    /// Writes, reads, copies, fills, and maps with unmaps, each waited for: of much, for the
    /// bandwidth, and of little, for the overhead. The same with images of as many bytes.
    fn transfer(&mut self) -> Result<Value> {
        let session = &self.session;
        let mut answer = serde_json::Map::new();
        for (label, width, height, repeat) in [("32 MiB", 4096, 2048, 8), ("4 KiB", 32, 32, 500)] {
            let mut host = vec![1_u32; width * height];
            let [buffer, other] = [session.buffer_from(&host)?, session.buffer_from(&host)?];
            let [image, target] = [(), ()]
                .map(|()| session.image_from((CL_RGBA, CL_UNORM_INT8), [width, height, 1], &host));
            let (image, target) = (image?, target?);
            let mut time = |name: &str, action: &mut dyn FnMut() -> Result<()>| {
                let mut times = Vec::new();
                for _ in 0..repeat {
                    let start = Instant::now();
                    action()?;
                    times.push(start.elapsed().as_secs_f64());
                }
                answer.insert(format!("{name} {label}"), summary(&mut times));
                Ok::<_, String>(())
            };
            time("write", &mut || session.write(&buffer, &host))?;
            time("write image", &mut || session.write_image(&image, &host))?;
            time("read", &mut || session.read_into(&buffer, &mut host))?;
            time("read image", &mut || {
                session.read_image_into(&image, &mut host)
            })?;
            time("copy", &mut || session.copy(&buffer, &other))?;
            time("copy image", &mut || session.copy_image(&image, &target))?;
            time("fill", &mut || session.fill(&buffer, 2))?;
            time("fill image", &mut || session.fill_image(&image, [0.2; 4]))?;
            time("map, unmap", &mut || session.map_and_unmap(&buffer))?;
        }
        Ok(Value::Object(answer))
    }
}

/// The best and the median.
pub fn summary(times: &mut [f64]) -> Value {
    times.sort_unstable_by(f64::total_cmp);
    json!({ "best": times[0], "median": times[times.len() / 2], "runs": times.len() })
}
