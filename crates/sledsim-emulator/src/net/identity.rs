//! A certificate with its private key.

use super::pem::{pem_items, unreadable};
use super::private_file::open_private;
use chrono::DateTime;
use rustls::RootCertStore;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, Error as TlsError};
use sledsim_base::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A certificate with those that vouch for it, and its private key.
pub struct Identity {
    /// The file of the certificates.
    pub file: PathBuf,
    /// The certificates.
    pub chain: Vec<CertificateDer<'static>>,
    /// The private key.
    pub key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Loads `ROLE-cert.pem` and `ROLE-key.pem` of a folder.
    ///
    /// # Errors
    /// A file that is missing or contains no such item, a key that others may read, or a
    /// certificate that is not valid now: no client or server would accept it.
    pub fn load(folder: &Path, role: &str) -> Result<Self> {
        let file = folder.join(format!("{role}-cert.pem"));
        let key = folder.join(format!("{role}-key.pem"));
        let chain = pem_items(&file)?;
        let now = UnixTime::now();
        for certificate in &chain {
            is_valid(certificate, now).map_err(|why| Error::file(&file, why))?;
        }
        let secret = PrivateKeyDer::from_pem_reader(open_private(&key)?);
        let secret = secret.map_err(|error| unreadable(&key, error))?;
        Ok(Self { file, chain, key: secret })
    }
}

/// Refuses a certificate that has expired, or is not valid yet. The library looks at the
/// time before anything else; who has signed does not matter here.
fn is_valid(certificate: &CertificateDer<'_>, now: UnixTime) -> std::result::Result<(), String> {
    let algorithms = ring::default_provider().signature_verification_algorithms;
    let parsed = ParsedCertificate::try_from(certificate).map_err(|error| error.to_string())?;
    let roots = RootCertStore::empty();
    let found =
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], now, algorithms.all);
    let (what, at) = match found {
        Err(TlsError::InvalidCertificate(CertificateError::ExpiredContext {
            not_after, ..
        })) => ("expired", not_after),
        Err(TlsError::InvalidCertificate(CertificateError::NotValidYetContext {
            not_before,
            ..
        })) => ("is not valid before", not_before),
        _ => return Ok(()),
    };
    let (at, now) = (date(at.as_secs()), date(now.as_secs()));
    Err(format!("{what} {at}, and it is {now}: the certificate must be valid now"))
}

/// A time as a date and a time of the day in UTC.
fn date(unix_s: u64) -> String {
    let time = i64::try_from(unix_s).ok().and_then(|s| DateTime::from_timestamp(s, 0));
    time.map_or_else(
        || format!("{unix_s} s after 1970"),
        |time| time.format("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    /// As `date -u -d @SECONDS` prints them.
    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_399), "2000-02-28 23:59 UTC");
        assert_eq!(date(951_868_799), "2000-02-29 23:59 UTC");
        assert_eq!(date(1_798_761_600), "2027-01-01 00:00 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
