//! Conversion of errors to Python exceptions.

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::{PyErr, create_exception};
use sledsim_base::error::Error;

create_exception!(
    sledsim,
    SledsimError,
    PyValueError,
    "Something the user must change: an unknown key, a value out of range, a bad line of a trace, \
     a file that cannot be read or written. The message names it and says what is allowed."
);

create_exception!(
    sledsim,
    RemoteError,
    SledsimError,
    "What a server refused or could not do, or no server. `code` is the kind of reason as gRPC has \
     it, such as \"INVALID_ARGUMENT\"; of a connection that could not be made or has ended it is \
     \"UNAVAILABLE\"."
);

/// Converts a core error to a Python exception.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        error => SledsimError::new_err(error.to_string()),
    }
}
