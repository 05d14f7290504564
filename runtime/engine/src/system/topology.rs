//! What the machine is: processors this process may use, their caches, memory and name.
//!
//! Everything is read once, from `/proc`, `/sys` and the affinity mask. What cannot be read (a
//! container may hide any of it) gets a plausible value, never an error.

use std::fs;
use std::path::{Path, PathBuf};

use brolga_host::notice;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

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
    /// Logical processors that this process may use, at least 1.
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

/// Indices of the logical processors that this process may use: those in the affinity mask of any
/// of its threads; never empty. The thread that asks may have been bound to one, as applications do
/// with theirs, while the others are not; a process that was started on some processors (`taskset`,
/// `mpirun --bind-to`) has no thread elsewhere.
pub fn available_processors() -> Vec<usize> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let threads = threads
        .flatten()
        .filter_map(|thread| thread.file_name().to_str()?.parse().ok())
        .map(Pid::from_raw);
    let mut list: Vec<_> = threads.flat_map(affinity).collect();
    list.extend(affinity(None));
    list.sort_unstable();
    list.dedup();
    if list.is_empty() {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        list.extend(0..count);
    }
    list
}

/// Indices of the logical processors in the affinity mask of a thread, this one if it is not named;
/// none if there is no such thread, as it may have ended.
pub(crate) fn affinity(thread: Option<Pid>) -> Vec<usize> {
    let set = sched_getaffinity(thread).ok();
    let processors = set.map(|set| (0..CpuSet::MAX_CPU).filter(move |&cpu| set.is_set(cpu)));
    processors.into_iter().flatten().collect()
}

/// Threads that can run at once: as many as there are processors in the affinity mask, and no more
/// than the processor time that the control groups of the process give it (`cpu.max`). Threads
/// beyond that would only have the others stopped earlier in each period.
pub fn useful_threads() -> u32 {
    let processors = available_processors().len() as u32;
    quota(Path::new(CGROUPS), &own_groups()).map_or(processors, |quota| quota.min(processors))
}

/// Where control groups are mounted.
const CGROUPS: &str = "/sys/fs/cgroup";

/// The control groups of this process, as the system lists them.
fn own_groups() -> String {
    fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// The folders that say what the control groups of a process, as `/proc/self/cgroup` has them, let
/// it have of what one controller controls, and whether they are of version 2. `root` is where
/// groups are mounted; in a container the group of the process may be the root itself.
fn group_folders<'a>(
    root: &'a Path,
    groups: &'a str,
    controller: &'a str,
) -> impl Iterator<Item = (PathBuf, bool)> + 'a {
    // "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1 (cgroups(7)).
    groups.lines().flat_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or("/"));
        let is_v2 = controllers.is_empty();
        let mount = match is_v2 {
            true => root.to_path_buf(),
            false => root.join(controllers),
        };
        let is_it = is_v2 || controllers.split(',').any(|name| name == controller);
        let path = Path::new(path.trim_start_matches('/'));
        // A limit of a group is one of all below it.
        let folders = path.ancestors().filter(|_| is_it);
        let folders: Vec<_> = folders.map(|group| (mount.join(group), is_v2)).collect();
        folders
    })
}

/// The processors that the control groups of a process leave it at most, rounded up; at least 1.
/// `None` if they set no limit. For the arguments see [`group_folders`].
fn quota(root: &Path, groups: &str) -> Option<u32> {
    let limits = group_folders(root, groups, "cpu").filter_map(|(folder, is_v2)| match is_v2 {
        true => quota_v2(&folder),
        false => quota_v1(&folder),
    });
    limits.min()
}

/// Bytes of memory that the control groups of a process leave it at most; `None` if they set no
/// limit. For the arguments see [`group_folders`].
fn memory_limit(root: &Path, groups: &str) -> Option<u64> {
    let limits = group_folders(root, groups, "memory").filter_map(|(folder, is_v2)| {
        // "max" is no limit; version 1 has the largest number of pages for that, which is more than
        // any machine has.
        let name = match is_v2 {
            true => "memory.max",
            false => "memory.limit_in_bytes",
        };
        let limit = fs::read_to_string(folder.join(name)).ok()?;
        limit.trim().parse().ok()
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
pub fn pin(processors: &[usize]) {
    if processors.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor);
    }
    if let Err(error) = sched_setaffinity(None, &set) {
        notice(format_args!(
            "a thread cannot be kept on processors {processors:?}: {error}"
        ));
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
pub fn groups(what: Sharing, processors: &[usize]) -> Vec<Vec<u32>> {
    groups_in(Path::new("/sys/devices/system"), what, processors)
}

/// As [`groups`], of a machine that a folder like `/sys/devices/system` describes.
pub fn groups_in(system: &Path, what: Sharing, processors: &[usize]) -> Vec<Vec<u32>> {
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
pub fn memory() -> u64 {
    let installed = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(1 << 30, |kib| kib * 1024);
    let limit = memory_limit(Path::new(CGROUPS), &own_groups());
    limit.map_or(installed, |limit| limit.min(installed))
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

    /// The thread that is the first to ask need not be one that runs everywhere.
    #[test]
    fn a_thread_that_is_bound_sees_the_processors_of_the_others() {
        let all = available_processors();
        let of_one = std::thread::spawn(|| {
            let first = available_processors()[0];
            pin(&[first]);
            available_processors()
        });
        assert_eq!(of_one.join().unwrap(), all);
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
    fn control_groups_limit_the_memory() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let limit = |groups: &str| memory_limit(folder.path(), groups);
        assert_eq!(limit("0::/\n"), None);
        write("a/b/memory.max", "max\n");
        assert_eq!(limit("0::/a/b\n"), None);
        write("a/b/memory.max", "3000000000\n");
        assert_eq!(limit("0::/a/b\n"), Some(3_000_000_000));
        // The parent's limit is lower.
        write("a/memory.max", "2000000000\n");
        assert_eq!(limit("0::/a/b\n"), Some(2_000_000_000));
        assert_eq!(limit("0::/c\n"), None);
        // A container sees its group as the root.
        write("memory.max", "1000000000\n");
        assert_eq!(limit("0::/../somewhere\n"), Some(1_000_000_000));
        // Version 1, where other controllers have other groups.
        write("memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/x/memory.limit_in_bytes", "4096000\n");
        write("memory/z/memory.limit_in_bytes", "5000\n");
        let groups = "5:memory:/x/y\n4:cpu,cpuacct:/z\n";
        assert_eq!(limit(groups), Some(4_096_000));
        assert_eq!(limit(""), None);
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
