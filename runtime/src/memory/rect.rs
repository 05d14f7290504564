//! The arithmetic of rectangular regions ("Reading, Writing and Copying Buffer Objects").
