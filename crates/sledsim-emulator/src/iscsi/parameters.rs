//! The negotiation of operational parameters (RFC 7143, section 13).

use super::keys::{Keys, put};

/// The most bytes of data in a PDU that the target accepts.
pub(super) const RECEIVED_MAXIMUM: u32 = 256 << 10;
/// The most bytes of unsolicited data of a command.
const FIRST_BURST: u32 = 64 << 10;
/// The most bytes of a sequence of PDUs.
const BURST: u32 = 1 << 20;

/// What initiator and target have agreed on.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub(super) header_digest: bool,
    pub(super) data_digest: bool,
    /// The most bytes of data in a PDU that the initiator accepts.
    pub(super) sent_maximum: u32,
    pub(super) first_burst: u32,
    pub(super) burst: u32,
    /// Whether an initiator waits for R2T before it sends data beyond the immediate ones.
    pub(super) initial_r2t: bool,
    pub(super) immediate_data: bool,
    /// The keys offered so far: each is negotiated once (section 6.3).
    offered: Vec<String>,
}

impl Default for Parameters {
    /// The defaults of the standard.
    fn default() -> Self {
        Self {
            header_digest: false,
            data_digest: false,
            sent_maximum: 8192,
            first_burst: FIRST_BURST,
            burst: 256 << 10,
            initial_r2t: true,
            immediate_data: true,
            offered: Vec::new(),
        }
    }
}

/// What becomes of an offered number.
enum Rule {
    /// The smaller one of this and the offer.
    AtMost(u32),
    /// The larger one.
    AtLeast(u32),
}

/// Answers that need no negotiation.
const UNNEGOTIATED: [&str; 6] =
    ["InitiatorName", "InitiatorAlias", "TargetName", "SessionType", "AuthMethod", "TargetAlias"];

impl Parameters {
    /// Takes the offers in `keys`, and appends the answers to `answers`.
    pub(super) fn negotiate(&mut self, keys: &Keys, answers: &mut Vec<u8>) -> Result<(), String> {
        // The first burst is answered by the length of a burst, in either order of the two.
        let first = "MaxBurstLength";
        if let Some(value) = keys.get(first) {
            self.answer(first, value).map_err(not_allowed)?;
            let agreed = self.offered.iter().any(|key| key == "FirstBurstLength");
            if agreed && self.first_burst > self.burst {
                let most = self.first_burst;
                return Err(format!(
                    "{first}={value}: must be at least FirstBurstLength={most}, agreed on before"
                ));
            }
        }
        for (key, value) in keys.iter() {
            if UNNEGOTIATED.contains(&key) || key.starts_with("CHAP_") {
                continue;
            }
            if self.offered.iter().any(|known| known == key) {
                return Err(format!("{key}={value}: is offered a second time"));
            }
            self.offered.push(key.to_owned());
            if let Some(answer) = self.answer(key, value).map_err(not_allowed)? {
                put(answers, key, &answer);
            }
        }
        // If none is offered, the standard's default is as long as a burst at most.
        self.first_burst = self.first_burst.min(self.burst);
        Ok(())
    }

    /// The answer to an offer; `None` for a key that takes no answer.
    fn answer(&mut self, key: &str, value: &str) -> Result<Option<String>, String> {
        let invalid = || format!("{key}={value}");
        let yes_or_no = || match value {
            "Yes" => Ok(true),
            "No" => Ok(false),
            _ => Err(invalid()),
        };
        let said = |yes: bool| Ok(Some(if yes { "Yes" } else { "No" }.to_owned()));
        let agreed = |rule: Rule, range: std::ops::RangeInclusive<u32>| {
            let offered = number(value).filter(|n| range.contains(n));
            let offered = offered.ok_or_else(invalid)?;
            Ok::<u32, String>(match rule {
                Rule::AtMost(most) => offered.min(most),
                Rule::AtLeast(least) => offered.max(least),
            })
        };
        let lengths = 512..=(1 << 24) - 1;
        let answer = match key {
            "HeaderDigest" | "DataDigest" => {
                let digest = value.split(',').find(|kind| ["None", "CRC32C"].contains(kind));
                let digest = digest.ok_or_else(invalid)?;
                let chosen = match key {
                    "HeaderDigest" => &mut self.header_digest,
                    _ => &mut self.data_digest,
                };
                *chosen = digest == "CRC32C";
                return Ok(Some(digest.to_owned()));
            }
            "InitialR2T" => {
                self.initial_r2t = yes_or_no()?;
                return said(self.initial_r2t);
            }
            "ImmediateData" => {
                self.immediate_data = yes_or_no()?;
                return said(self.immediate_data);
            }
            "DataPDUInOrder" | "DataSequenceInOrder" => {
                yes_or_no()?;
                return said(true);
            }
            "IFMarker" | "OFMarker" => {
                yes_or_no()?;
                return said(false);
            }
            "MaxRecvDataSegmentLength" => {
                let offered = number(value).filter(|n| lengths.contains(n));
                self.sent_maximum = offered.ok_or_else(invalid)?;
                return Ok(None);
            }
            "MaxBurstLength" => {
                self.burst = agreed(Rule::AtMost(BURST), lengths)?;
                self.burst
            }
            "FirstBurstLength" => {
                let most = FIRST_BURST.min(self.burst);
                self.first_burst = agreed(Rule::AtMost(most), lengths)?;
                self.first_burst
            }
            "MaxConnections" => agreed(Rule::AtMost(1), 1..=65535)?,
            "MaxOutstandingR2T" => agreed(Rule::AtMost(1), 1..=65535)?,
            "DefaultTime2Wait" => agreed(Rule::AtLeast(2), 0..=3600)?,
            "DefaultTime2Retain" => agreed(Rule::AtMost(0), 0..=3600)?,
            "ErrorRecoveryLevel" => agreed(Rule::AtMost(0), 0..=2)?,
            "iSCSIProtocolLevel" => agreed(Rule::AtMost(1), 0..=31)?,
            "TaskReporting" => return Ok(Some("RFC3720".to_owned())),
            _ => return Ok(Some("NotUnderstood".to_owned())),
        };
        Ok(Some(answer.to_string()))
    }
}

fn not_allowed(offer: String) -> String {
    format!("{offer}: is not allowed")
}

/// A number, decimal or hexadecimal, without a sign.
pub(super) fn number(text: &str) -> Option<u32> {
    if text.contains('+') {
        return None;
    }
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiated(offers: &str) -> Result<(Parameters, String), String> {
        let keys = Keys::decode(offers.replace(' ', "\0").as_bytes()).unwrap();
        let (mut parameters, mut answers) = (Parameters::default(), Vec::new());
        parameters.negotiate(&keys, &mut answers)?;
        let answers = String::from_utf8(answers).unwrap().replace('\0', " ");
        Ok((parameters, answers.trim_end().to_owned()))
    }

    #[test]
    fn each_key_is_answered_by_its_function() {
        let (parameters, answers) = negotiated(
            "HeaderDigest=CRC32C,None DataDigest=None,CRC32C MaxConnections=8 InitialR2T=No \
             ImmediateData=No MaxBurstLength=0x100000 FirstBurstLength=4096 DefaultTime2Wait=0 \
             DefaultTime2Retain=20 MaxOutstandingR2T=16 DataPDUInOrder=No ErrorRecoveryLevel=2 \
             MaxRecvDataSegmentLength=131072 X-com.example.key=1",
        )
        .unwrap();
        assert_eq!(
            answers,
            "HeaderDigest=CRC32C DataDigest=None MaxConnections=1 InitialR2T=No ImmediateData=No \
             MaxBurstLength=1048576 FirstBurstLength=4096 DefaultTime2Wait=2 \
             DefaultTime2Retain=0 MaxOutstandingR2T=1 DataPDUInOrder=Yes ErrorRecoveryLevel=0 \
             X-com.example.key=NotUnderstood"
        );
        assert!(parameters.header_digest && !parameters.data_digest);
        assert_eq!(parameters.sent_maximum, 131_072);
        assert!(!parameters.initial_r2t && !parameters.immediate_data);
    }

    #[test]
    fn the_first_burst_is_no_longer_than_a_burst() {
        let offers = "FirstBurstLength=65536 MaxBurstLength=512";
        let (parameters, answers) = negotiated(offers).unwrap();
        assert_eq!(parameters.first_burst, 512);
        assert_eq!(answers, "FirstBurstLength=512 MaxBurstLength=512");
    }

    #[test]
    fn invalid_values_are_refused() {
        for offer in [
            "HeaderDigest=MD5",
            "InitialR2T=Maybe",
            "MaxBurstLength=511",
            "MaxBurstLength=16777216",
            "MaxRecvDataSegmentLength=0",
            "ErrorRecoveryLevel=3",
            "MaxConnections=-1",
            "MaxConnections=+1",
            "MaxBurstLength=0x+800",
        ] {
            assert_eq!(negotiated(offer).unwrap_err(), not_allowed(offer.to_owned()));
        }
    }
}
