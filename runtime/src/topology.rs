//! What the machine is: processors this process may use, their caches, memory and name.
//!
//! Everything is read once, from `/proc`, `/sys` and the affinity mask. What cannot be read (a
//! container may hide any of it) gets a plausible value, never an error.

use std::fs;
use std::path::Path;

/// One level of the data cache hierarchy as the first available processor sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// Bytes.
    pub size: u64,
    /// Bytes.
    pub line_size: u32,
    /// Logical processors that share it.
    pub shared_by: u32,
}

/// The machine as this process sees it.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Logical processors in the affinity mask, at least 1.
    pub processors: u32,
    /// Data and unified caches, nearest first.
    pub caches: Vec<Cache>,
    /// Bytes of physical memory, or the control group's limit when that is lower.
    pub memory: u64,
    /// The processor's marketing name.
    pub name: String,
    /// The vendor string of `cpuid`, e.g. `GenuineIntel`.
    pub vendor: String,
    /// Highest frequency of the first processor, MHz; 0 when unknown.
    pub max_mhz: u32,
    /// NUMA nodes with processors, at least 1.
    pub numa_nodes: u32,
}

impl Topology {
    /// Reads the machine's description.
    pub fn detect() -> Topology {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processors = available_processors();
        Topology {
            processors: processors.len() as u32,
            caches: caches(processors[0]),
            memory: memory(),
            name: cpuinfo_field(&cpuinfo, "model name")
                .unwrap_or("CPU")
                .to_owned(),
            vendor: cpuinfo_field(&cpuinfo, "vendor_id")
                .unwrap_or("unknown")
                .to_owned(),
            max_mhz: max_mhz(processors[0], &cpuinfo),
            numa_nodes: numa_nodes(),
        }
    }

    /// The largest cache level, the one `CL_DEVICE_GLOBAL_MEM_CACHE_SIZE` describes.
    pub fn last_level_cache(&self) -> Option<Cache> {
        self.caches.iter().copied().max_by_key(|cache| cache.level)
    }
}

/// Indices of the logical processors in this thread's affinity mask; never empty.
pub fn available_processors() -> Vec<usize> {
    let mut list = Vec::new();
    if let Ok(set) = rustix::thread::sched_getaffinity(None) {
        list.extend((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)));
    }
    if list.is_empty() {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        list.extend(0..count);
    }
    list
}

fn cpuinfo_field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key)
            .then(|| value.trim())
            .filter(|v| !v.is_empty())
    })
}

/// Parses sysfs sizes: `48K`, `32768K`, `1M`, `64`.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1 << 10),
        'M' => (&text[..text.len() - 1], 1 << 20),
        'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Counts the members of a sysfs list: `0-3,8`.
fn count_list(text: &str) -> u32 {
    text.trim()
        .split(',')
        .filter_map(|part| match part.split_once('-') {
            Some((first, last)) => {
                let first: u32 = first.parse().ok()?;
                let last: u32 = last.parse().ok()?;
                last.checked_sub(first)?.checked_add(1)
            }
            None => part.parse::<u32>().ok().map(|_| 1),
        })
        .sum()
}

fn read_cache(folder: &Path) -> Option<Cache> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    if read("type")?.trim() == "Instruction" {
        return None;
    }
    Some(Cache {
        level: read("level")?.trim().parse().ok()?,
        size: parse_size(&read("size")?)?,
        line_size: read("coherency_line_size")?.trim().parse().ok()?,
        shared_by: count_list(&read("shared_cpu_list").unwrap_or_default()).max(1),
    })
}

fn caches(processor: usize) -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{processor}/cache");
    let mut caches: Vec<Cache> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| read_cache(&entry.path()))
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// What processors may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Numa,
    /// The data cache of a level.
    Cache(u32),
}

/// A name that is the same for all processors that share the domain with `processor`; `None` where there is no such thing.
pub fn sharing(processor: usize, domain: Domain) -> Option<String> {
    let folder = format!("/sys/devices/system/cpu/cpu{processor}");
    let entries = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    match domain {
        // The processor's folder has a link `node0` to its node.
        Domain::Numa => entries(&folder).iter().find_map(|path| {
            let name = path.file_name()?.to_str()?;
            let number = name.strip_prefix("node")?;
            number.parse::<u32>().ok().map(|_| name.to_owned())
        }),
        Domain::Cache(level) => entries(&format!("{folder}/cache")).iter().find_map(|path| {
            let of_level = read_cache(path)?.level == level;
            let shared = || fs::read_to_string(path.join("shared_cpu_list")).ok();
            of_level.then(shared)?
        }),
    }
}

/// Bytes of physical memory, or the control group's limit when that is lower.
pub(crate) fn memory() -> u64 {
    let installed = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(1 << 30, |kib| kib * 1024);
    let limit = fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok())
        .unwrap_or(u64::MAX);
    installed.min(limit)
}

fn max_mhz(processor: usize, cpuinfo: &str) -> u32 {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/cpufreq/cpuinfo_max_freq");
    let from_sysfs = fs::read_to_string(path)
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok())
        .map(|khz| khz / 1000);
    from_sysfs
        .or_else(|| {
            cpuinfo_field(cpuinfo, "cpu MHz")?
                .parse::<f64>()
                .ok()
                .map(|mhz| mhz as u32)
        })
        .unwrap_or(0)
}

fn numa_nodes() -> u32 {
    fs::read_to_string("/sys/devices/system/node/has_cpu")
        .map_or(1, |text| count_list(&text).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("48K\n"), Some(48 << 10));
        assert_eq!(parse_size("1M"), Some(1 << 20));
        assert_eq!(parse_size("64"), Some(64));
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("K"), None);
    }

    #[test]
    fn lists() {
        assert_eq!(count_list("0-3,8\n"), 5);
        assert_eq!(count_list("0"), 1);
        assert_eq!(count_list(""), 0);
        assert_eq!(count_list("3-1"), 0);
    }

    #[test]
    fn this_machine_has_a_processor_and_memory() {
        let topology = Topology::detect();
        assert!(topology.processors >= 1);
        assert!(topology.memory > 1 << 20);
    }
}
