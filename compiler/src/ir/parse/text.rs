//! Comments, quoted names, numbers, lists.

use crate::ir::Type;
use crate::kernel_info::AddressSpace;

/// The line up to a `;` outside quotes.
pub(super) fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

/// Splits a quoted name off the start of `text` and undoes `{:?}`.
pub(super) fn quoted(text: &str) -> Result<(String, &str), String> {
    let bad = || format!("expected a quoted name: {text}");
    let body = text.trim_start().strip_prefix('"').ok_or_else(bad)?;
    let mut name = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((name, body[at + 1..].trim_start())),
            '\\' => match chars.next().ok_or_else(bad)?.1 {
                'n' => name.push('\n'),
                't' => name.push('\t'),
                'r' => name.push('\r'),
                '0' => name.push('\0'),
                'u' => {
                    let (_, hex) = (chars.next(), chars.as_str());
                    let end = hex.find('}').ok_or_else(bad)?;
                    let code = u32::from_str_radix(&hex[..end], 16).map_err(|_| bad())?;
                    name.push(char::from_u32(code).ok_or_else(bad)?);
                    chars.nth(end);
                }
                other => name.push(other),
            },
            other => name.push(other),
        }
    }
    Err(bad())
}

/// A decimal or `0x` hexadecimal integer; a negative one as its two's complement.
pub(super) fn integer(text: &str) -> Result<u64, String> {
    let bad = |_| format!("expected a number: {text}");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map_err(bad)?,
        None => digits.parse::<u64>().map_err(bad)?,
    };
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

pub(super) fn number<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    T::try_from(integer(text)?).map_err(|_| format!("number too large: {text}"))
}

/// The number after a fixed prefix, as in `align4` or `@g3`.
pub(super) fn after<T: TryFrom<u64>>(prefix: &str, text: &str) -> Result<T, String> {
    number(
        text.trim()
            .strip_prefix(prefix)
            .ok_or_else(|| format!("expected `{prefix}` and a number: {text}"))?,
    )
}

pub(super) fn space(text: &str) -> Result<AddressSpace, String> {
    Ok(match text {
        "private" => AddressSpace::Private,
        "global" => AddressSpace::Global,
        "constant" => AddressSpace::Constant,
        "local" => AddressSpace::Local,
        "generic" => AddressSpace::Generic,
        _ => return Err(format!("unknown address space {text}")),
    })
}

pub(super) fn ty(text: &str) -> Result<Type, String> {
    text.trim()
        .parse()
        .map_err(|()| format!("unknown type {text}"))
}

/// `a, b, c` split and trimmed; empty for an empty text.
pub(super) fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// `words` as keyword, value, keyword, value...: the value of each of `keys`, in order.
pub(super) fn keyed<const N: usize>(words: &[&str], keys: [&str; N]) -> Result<[u64; N], String> {
    let mut values = [0; N];
    for (i, key) in keys.into_iter().enumerate() {
        match words.get(2 * i..2 * i + 2) {
            Some([word, value]) if *word == key => values[i] = integer(value)?,
            _ => return Err(format!("expected `{key}` and a number")),
        }
    }
    Ok(values)
}
