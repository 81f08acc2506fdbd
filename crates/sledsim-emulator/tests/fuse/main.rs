//! Is a mounted export a file like any other, and as slow as its device?

mod bytes;
mod ends;
mod faces;
mod mounted;
mod times;
