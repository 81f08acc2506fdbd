//! Certificates.

use super::identity::Identity;
use super::pem::pem_items;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::CertificateRevocationListDer;
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use sledsim_base::error::{Error, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// TLS with the certificates in a folder, with the names used by other NBD servers:
/// `server-cert.pem` and `server-key.pem`, and for clients `ca-cert.pem` and optionally
/// `ca-crl.pem`.
#[derive(Clone, Debug)]
pub struct TlsSpec {
    /// The folder.
    pub folder: PathBuf,
    /// Whether clients must use TLS; otherwise it is optional.
    pub required: bool,
    /// Whether clients may connect without a certificate. If `ca-cert.pem` exists, a
    /// certificate that is shown must be signed by it nevertheless.
    pub allow_anonymous: bool,
}

impl TlsSpec {
    /// TLS required, with certificates on both sides.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), required: true, allow_anonymous: false }
    }

    /// Whether every client has to show a certificate.
    pub fn authenticates(&self) -> bool {
        self.required && !self.allow_anonymous
    }

    /// Loads the TLS configuration of a server.
    pub fn load(&self) -> Result<ServerConfig> {
        let identity = Identity::load(&self.folder, "server")?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::file(&self.folder, error))?;
        let authority = self.folder.join("ca-cert.pem");
        let builder = if authority.exists() {
            let mut roots = RootCertStore::empty();
            for root in pem_items(&authority)? {
                let added = roots.add(root);
                added.map_err(|error| Error::file(&authority, error))?;
            }
            let revoked = self.folder.join("ca-crl.pem");
            let revocations = match revoked.exists() {
                true => pem_items::<CertificateRevocationListDer<'static>>(&revoked)?,
                false => Vec::new(),
            };
            let mut verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .with_crls(revocations)
                    .allow_unknown_revocation_status();
            if self.allow_anonymous {
                verifier = verifier.allow_unauthenticated();
            }
            let verifier = verifier.build();
            builder.with_client_cert_verifier(
                verifier.map_err(|error| Error::file(&authority, error))?,
            )
        } else if self.allow_anonymous {
            builder.with_no_client_auth()
        } else {
            return Err(Error::file(
                &authority,
                "missing: client certificates cannot be checked without it; put it there, or \
                 set tls_allow_anonymous to serve clients that have none",
            ));
        };
        let Identity { file, chain, key } = identity;
        builder
            .with_single_cert(chain, key)
            .map_err(|error| Error::file(&file, format!("does not match its key: {error}")))
    }
}
