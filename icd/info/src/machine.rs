//! The system, the processors, memory, and what bounds them, as the driver reads them.

use std::ffi::CStr;
use std::fs;

use brolga_compiler::codegen;
use brolga_runtime::store;
use brolga_runtime::topology::{self, Cache, Topology};

use crate::page::Page;

/// Variables that change what the driver or a loader does start with one of these.
const VARIABLES: [&str; 6] = [
    "BROLGA_",
    "OCL_ICD_",
    "OPENCL_",
    "PYOPENCL_",
    "SYCL_",
    "ONEAPI_",
];

pub fn describe(page: &mut Page) {
    let machine = Topology::detect();
    page.section("system");
    page.line("kernel", kernel());
    page.line("C library", c_library());
    page.section("processors");
    page.line("name", format!("{} ({})", machine.name, machine.vendor));
    page.line("instruction set", instruction_set());
    page.line("usable", usable(&machine));
    page.line("NUMA nodes", machine.numa_nodes);
    page.line("data caches", caches(&machine.caches));
    page.section("memory and limits");
    page.line(
        "memory",
        format!("{} in all, control groups considered", size(machine.memory)),
    );
    page.line("address space", limit(libc::RLIMIT_AS));
    page.line("stack", limit(libc::RLIMIT_STACK));
    page.line("threads of the user", count(libc::RLIMIT_NPROC));
    page.line("open files", count(libc::RLIMIT_NOFILE));
    page.line("control groups", control_groups(&file("/proc/self/cgroup")));
    page.line("code is kept", store::describe());
    page.section("environment");
    let mut set: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into(),
                value.to_string_lossy().into(),
            )
        })
        .filter(|(name, _): &(String, _)| VARIABLES.iter().any(|start| name.starts_with(start)))
        .collect();
    set.sort_unstable();
    if set.is_empty() {
        page.line("", "no variable that concerns OpenCL is set");
    }
    for (name, value) in set {
        page.line(&name, value);
    }
}

fn kernel() -> String {
    let mut names = std::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: a structure to fill, in which zeros are valid; the names end with one.
    unsafe {
        if libc::uname(names.as_mut_ptr()) != 0 {
            return "unknown".to_owned();
        }
        let names = names.assume_init();
        let text =
            |name: &[libc::c_char]| CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned();
        let (system, release) = (text(&names.sysname), text(&names.release));
        format!("{system} {release} {}", text(&names.machine))
    }
}

fn c_library() -> String {
    // SAFETY: it has no conditions, and its text is constant.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

/// What code is generated for.
fn instruction_set() -> String {
    let target = codegen::target();
    let bits = 8 * target.vector_bytes;
    format!("{}, vectors of {bits} bits", target.isa.name())
}

fn usable(machine: &Topology) -> String {
    let threads = topology::useful_threads();
    match threads < machine.processors {
        false => format!("{}, by the affinity mask", machine.processors),
        true => format!(
            "{} by the affinity mask, time for {threads} by control groups (cpu.max)",
            machine.processors
        ),
    }
}

fn caches(caches: &[Cache]) -> String {
    if caches.is_empty() {
        return "not told by the system".to_owned();
    }
    let one = |cache: &Cache| match cache.shared_by {
        1 => format!("L{} {}", cache.level, size(cache.size)),
        shared => format!("L{} {} for {shared}", cache.level, size(cache.size)),
    };
    caches.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Bytes as a person reads them.
fn size(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB"];
    let unit = units.len().min(1 + (bytes.max(1).ilog2() / 10) as usize) - 1;
    let value = bytes as f64 / (1u64 << (10 * unit)) as f64;
    match value.fract() == 0.0 {
        true => format!("{value} {}", units[unit]),
        false => format!("{value:.1} {}", units[unit]),
    }
}

/// A limit in bytes.
fn limit(resource: libc::__rlimit_resource_t) -> String {
    soft_limit(resource).map_or("no limit".to_owned(), size)
}

fn count(resource: libc::__rlimit_resource_t) -> String {
    soft_limit(resource).map_or("no limit".to_owned(), |limit| limit.to_string())
}

/// `None` if there is none.
fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a structure to fill.
    let status = unsafe { libc::getrlimit(resource, &mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn file(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Those that bound processors and memory, of what the system lists: "0::/path" of version 2,
/// "4:cpu,cpuacct:/path" of version 1 (cgroups(7)).
fn control_groups(listed: &str) -> String {
    let bounds = |line: &&str| {
        let controllers = line.split(':').nth(1).unwrap_or_default();
        let mut controllers = controllers.split(',');
        controllers.any(|name| ["", "cpu", "memory"].contains(&name))
    };
    let groups: Vec<&str> = listed.lines().filter(bounds).collect();
    match groups[..] {
        [] => "not told by the system".to_owned(),
        _ => groups.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_the_largest_unit_that_has_one_of_them() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(48 << 10), "48 KiB");
        assert_eq!(size((1 << 20) + (1 << 19)), "1.5 MiB");
        assert_eq!(size(3 << 40), "3072 GiB");
    }

    #[test]
    fn control_groups_are_those_that_bound_something() {
        let listed = "9:name=systemd:/\n4:cpu,cpuacct:/a\n3:pids:/b\n2:memory:/c\n0::/d\n";
        let bounds = "4:cpu,cpuacct:/a\n2:memory:/c\n0::/d";
        assert_eq!(control_groups(listed), bounds);
        assert_eq!(control_groups(""), "not told by the system");
    }
}
