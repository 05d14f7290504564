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

/// Threads that can run at once: as many as there are processors in the affinity mask, and no more
/// than the processor time that the control groups of the process give it (`cpu.max`). Threads
/// beyond that would only have the others stopped earlier in each period.
pub(crate) fn useful_threads() -> u32 {
    let processors = available_processors().len() as u32;
    let group = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    quota(Path::new("/sys/fs/cgroup"), &group).map_or(processors, |quota| quota.min(processors))
}

/// The processors that the control groups of a process, as `/proc/self/cgroup` has them, leave it
/// at most, rounded up; at least 1. `None` if they set no limit. `root` is where they are mounted;
/// in a container the group of the process may be the root itself.
fn quota(root: &Path, groups: &str) -> Option<u32> {
    // "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1 (cgroups(7)).
    let limits = groups.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or("/"));
        let is_v2 = controllers.is_empty();
        let mount = match is_v2 {
            true => root.to_path_buf(),
            false => root.join(controllers),
        };
        let is_cpu = is_v2 || controllers.split(',').any(|name| name == "cpu");
        let path = Path::new(path.trim_start_matches('/')).to_path_buf();
        // A limit of a group is one of all below it.
        let folders: Vec<_> = path.ancestors().map(|group| mount.join(group)).collect();
        folders
            .into_iter()
            .filter(move |_| is_cpu)
            .filter_map(move |folder| match is_v2 {
                true => quota_v2(&folder),
                false => quota_v1(&folder),
            })
    });
    limits.min()
}

/// "cpu.max: [...] $MAX $PERIOD"; "max" is no limit.
fn quota_v2(group: &Path) -> Option<u32> {
    let text = fs::read_to_string(group.join("cpu.max")).ok()?;
    let mut fields = text.split_whitespace();
    processors_of(fields.next()?.parse().ok()?, fields.next()?.parse().ok()?)
}

/// A quota of -1 is no limit.
fn quota_v1(group: &Path) -> Option<u32> {
    let read = |name: &str| {
        fs::read_to_string(group.join(name))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    processors_of(read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
}

/// Of microseconds of time in each period of so many microseconds.
fn processors_of(time: i64, period: i64) -> Option<u32> {
    (time > 0 && period > 0).then(|| {
        u32::try_from(time.unsigned_abs().div_ceil(period.unsigned_abs())).unwrap_or(u32::MAX)
    })
}

/// Keeps the current thread on some logical processors; no processors mean any.
pub(crate) fn pin(processors: &[usize]) {
    if processors.is_empty() {
        return;
    }
    let mut set = rustix::thread::CpuSet::new();
    for &processor in processors {
        set.set(processor);
    }
    if let Err(error) = rustix::thread::sched_setaffinity(None, &set) {
        eprintln!("brolga: a thread cannot be kept on processors {processors:?}: {error}");
    }
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

/// What processors may have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    NumaNode,
    /// A data cache of this level.
    Cache(u32),
}

/// Groups `processors`, each of them by its index, by what they share. Those of which nothing is
/// known share nothing that is known of others.
pub(crate) fn groups(what: Sharing, processors: &[usize]) -> Vec<Vec<u32>> {
    groups_in(Path::new("/sys/devices/system"), what, processors)
}

/// As [`groups`], of a machine that a folder like `/sys/devices/system` describes.
pub(crate) fn groups_in(system: &Path, what: Sharing, processors: &[usize]) -> Vec<Vec<u32>> {
    let mut groups: Vec<(Option<String>, Vec<u32>)> = Vec::new();
    for (index, &processor) in processors.iter().enumerate() {
        let shared = match what {
            Sharing::NumaNode => numa_node(system, processor),
            Sharing::Cache(level) => cache_list(system, level, processor),
        };
        match groups.iter_mut().find(|(key, _)| *key == shared) {
            Some((_, group)) => group.push(index as u32),
            None => groups.push((shared, vec![index as u32])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The name of the NUMA node that a processor is of.
fn numa_node(system: &Path, processor: usize) -> Option<String> {
    let folder = system.join(format!("cpu/cpu{processor}"));
    let names = fs::read_dir(folder).ok()?.flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|name| {
            let number = name.strip_prefix("node");
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        })
}

/// The processors that share a processor's data cache of some level, as the system lists them.
fn cache_list(system: &Path, level: u32, processor: usize) -> Option<String> {
    let folder = system.join(format!("cpu/cpu{processor}/cache"));
    let mut caches = fs::read_dir(folder).ok()?.flatten();
    caches.find_map(|entry| {
        let read = |name: &str| fs::read_to_string(entry.path().join(name)).ok();
        let is_it = read("level")?.trim().parse() == Ok(level);
        (is_it && read("type")?.trim() != "Instruction").then(|| read("shared_cpu_list"))?
    })
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

    /// Two NUMA nodes of two cores of two threads each.
    #[test]
    fn processors_are_grouped_by_what_they_share() {
        let folder = tempfile::tempdir().unwrap();
        for cpu in 0..8 {
            let cpu_folder = folder.path().join(format!("cpu/cpu{cpu}"));
            fs::create_dir_all(cpu_folder.join(format!("node{}", cpu / 4))).unwrap();
            let core = format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1);
            let node = format!("{}-{}", cpu / 4 * 4, cpu / 4 * 4 + 3);
            let own = cpu.to_string();
            for (index, (level, kind, list)) in [
                ("1", "Instruction", &own),
                ("1", "Data", &core),
                ("2", "Unified", &core),
                ("3", "Unified", &node),
            ]
            .into_iter()
            .enumerate()
            {
                let cache = cpu_folder.join(format!("cache/index{index}"));
                fs::create_dir_all(&cache).unwrap();
                fs::write(cache.join("level"), level).unwrap();
                fs::write(cache.join("type"), kind).unwrap();
                fs::write(cache.join("shared_cpu_list"), list).unwrap();
            }
        }
        let groups = |what, processors: &[usize]| groups_in(folder.path(), what, processors);
        let all: Vec<usize> = (0..8).collect();
        let halves = vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]];
        assert_eq!(groups(Sharing::NumaNode, &all), halves);
        assert_eq!(groups(Sharing::Cache(3), &all), halves);
        let cores = vec![vec![0, 1], vec![2, 3], vec![4, 5], vec![6, 7]];
        assert_eq!(groups(Sharing::Cache(1), &all), cores);
        // There is none.
        assert_eq!(groups(Sharing::Cache(4), &all).len(), 1);
        // Some of them, in another order; indices are those of the list.
        assert_eq!(groups(Sharing::Cache(2), &[6, 0, 7]), [vec![0, 2], vec![1]]);
        assert_eq!(groups(Sharing::NumaNode, &[5]), [[0]]);
    }

    #[test]
    fn control_groups_limit_the_threads() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let quota = |groups: &str| quota(folder.path(), groups);
        assert_eq!(quota("0::/\n"), None);
        write("cpu.max", "max 100000\n");
        assert_eq!(quota("0::/\n"), None);
        write("a/b/cpu.max", "350000 100000\n");
        assert_eq!(quota("0::/a/b\n"), Some(4));
        // The parent's limit is lower.
        write("a/cpu.max", "20000 100000\n");
        assert_eq!(quota("0::/a/b\n"), Some(1));
        // A container sees its group as the root.
        write("cpu.max", "200000 100000\n");
        assert_eq!(quota("0::/../somewhere\n"), Some(2));
        write("cpu.max", "max 100000\n");
        // Version 1.
        write("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
        write("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
        let groups = "5:memory:/x\n4:cpu,cpuacct:/x\n";
        assert_eq!(quota(groups), None);
        write("cpu,cpuacct/x/cpu.cfs_quota_us", "150000\n");
        assert_eq!(quota(groups), Some(2));
        assert_eq!(quota(""), None);
    }

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
