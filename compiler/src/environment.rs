//! Environment variables that say where files are written, or which programs are run.
//!
//! A program with more rights than the user who starts it (set-user-ID, file capabilities) must not
//! do either as that user likes: there they are as good as not set (`AT_SECURE`, getauxval(3)).

use std::ffi::OsString;
use std::sync::LazyLock;

/// Whether the environment is of a user with fewer rights than the process has.
static IS_SECURE: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: it has no conditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
});

/// The variable, unless it is empty or not to be trusted.
pub fn trusted(name: &str) -> Option<OsString> {
    unless(*IS_SECURE, std::env::var_os(name))
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
