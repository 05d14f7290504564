//! Environment variables of the driver.
//!
//! A value that means nothing is told of once, and as good as not set ([`chosen`], [`listed`],
//! [`is_on`]).
//!
//! Some say where files are written, or which programs are run ([`trusted`]). A program with more
//! rights than the user who starts it (set-user-ID, file capabilities) must not do either as that
//! user likes: there they are as good as not set (`AT_SECURE`, getauxval(3)).

use std::ffi::OsString;
use std::fmt::Display;
use std::sync::{LazyLock, Mutex};

use crate::notice;

/// Whether the environment is of a user with fewer rights than the process has.
static IS_SECURE: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: it has no conditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
});

/// The variable, unless it is empty or not to be trusted.
pub fn trusted(name: &str) -> Option<OsString> {
    unless(*IS_SECURE, std::env::var_os(name))
}

/// What `parse` makes of the variable, unless that is empty. `allowed` says which values there are,
/// for those that are none of them.
pub fn chosen<T>(
    name: &'static str,
    allowed: impl Display,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Option<T> {
    let value = std::env::var_os(name)?;
    let text = value.to_str().map(str::trim);
    if text == Some("") {
        return None;
    }
    let parsed = text.and_then(parse);
    if parsed.is_none() {
        complain(name, &value.to_string_lossy(), &allowed);
    }
    parsed
}

/// Those of the values separated by commas that are `allowed`; none of a variable that is not to be
/// trusted.
pub fn listed(name: &'static str, allowed: &[&'static str]) -> Vec<&'static str> {
    let value = trusted(name).unwrap_or_default();
    let value = value.to_string_lossy();
    let named = value.split(',').map(str::trim).filter(|n| !n.is_empty());
    let find = |name: &str| allowed.iter().find(|&&allowed| allowed == name);
    if named.clone().any(|name| find(name).is_none()) {
        let allowed = format!("{}, separated by commas,", allowed.join(", "));
        complain(name, &value, &allowed);
    }
    named.filter_map(find).copied().collect()
}

/// Whether a variable that is `0` or `1` is 1; `default` if it is not set.
pub fn is_on(name: &'static str, default: bool) -> bool {
    let parse = |value: &str| match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    };
    chosen(name, "0 or 1", parse).unwrap_or(default)
}

/// One notice for a variable, however often it is asked for.
fn complain(name: &'static str, value: &str, allowed: &dyn Display) {
    static TOLD: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !told.contains(&name) {
        told.push(name);
        drop(told);
        notice(format_args!(
            "{name}={value} means nothing: {allowed} is expected"
        ));
    }
}

fn unless(is_secure: bool, value: Option<OsString>) -> Option<OsString> {
    value.filter(|value| !is_secure && !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_trusted_in_a_secure_process() {
        let path = || Some(OsString::from("/tmp/x"));
        assert_eq!(unless(false, path()), path());
        assert_eq!(unless(true, path()), None);
        assert_eq!(unless(false, Some(OsString::new())), None);
    }
}
