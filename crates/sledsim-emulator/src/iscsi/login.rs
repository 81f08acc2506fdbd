//! The login phase (RFC 7143, sections 6 and 11.12): security, then operational parameters.

use super::chap::{Challenge, Hash};
use super::keys::{Keys, TEXT_MAXIMUM, put};
use super::parameters::{Parameters, RECEIVED_MAXIMUM};
use super::pdu::{Digests, FINAL, LOGIN, LOGIN_RESPONSE, Received, header, set};
use super::target::Target;
use crate::net::{ClientErrorKind, End, Input};

/// Stages.
const SECURITY: u8 = 0;
const OPERATIONAL: u8 = 1;
const FULL_FEATURE: u8 = 3;

/// Bit 6 of byte 1: the text continues in the next request.
const CONTINUES: u8 = 1 << 6;

/// Statuses: class and detail.
const INITIATOR_ERROR: (u8, u8) = (2, 0x00);
const AUTHENTICATION_FAILED: (u8, u8) = (2, 0x01);
const NOT_FOUND: (u8, u8) = (2, 0x03);
const NO_SUCH_VERSION: (u8, u8) = (2, 0x05);
const MISSING_PARAMETER: (u8, u8) = (2, 0x07);
const NO_SUCH_SESSION_TYPE: (u8, u8) = (2, 0x09);
const NO_SUCH_SESSION: (u8, u8) = (2, 0x0a);
const SERVICE_UNAVAILABLE: (u8, u8) = (3, 0x01);

/// The most requests of a login.
const REQUESTS: usize = 64;

/// The result of a login.
pub(crate) struct Agreed {
    pub(super) parameters: Parameters,
    /// Whether the session is for discovery only.
    pub(super) is_discovery: bool,
    /// The name of the initiator, and its part of the session's identity.
    pub(super) initiator: String,
    pub(super) isid: [u8; 6],
    pub(super) cmd_sn: u32,
    pub(super) stat_sn: u32,
}

/// A login in progress.
pub(super) struct Login<'a> {
    input: &'a mut Input,
    target: &'a Target,
    /// To be called before the last answer.
    settle: &'a dyn Fn(),
    /// The handle that the session gets.
    tsih: u16,
    agreed: Agreed,
    /// Whether a request has been seen.
    has_begun: bool,
    is_authenticated: bool,
    /// Whether the target has said how much it receives at once.
    has_declared: bool,
    challenge: Option<Challenge>,
}

/// A refusal: a status, and its reason.
type Refusal = ((u8, u8), String);

impl<'a> Login<'a> {
    pub(super) fn new(
        input: &'a mut Input,
        target: &'a Target,
        tsih: u16,
        settle: &'a dyn Fn(),
    ) -> Self {
        Self {
            input,
            target,
            settle,
            tsih,
            agreed: Agreed {
                parameters: Parameters::default(),
                is_discovery: false,
                initiator: String::new(),
                isid: [0; 6],
                cmd_sn: 0,
                stat_sn: 1,
            },
            has_begun: false,
            is_authenticated: target.secrets.is_none(),
            has_declared: false,
            challenge: None,
        }
    }

    /// Performs the login.
    pub(super) fn run(mut self) -> Result<Agreed, End> {
        let mut text = Vec::new();
        for _ in 0..REQUESTS {
            let request = Digests::default().receive_header(self.input)?;
            let bytes = request.data_bytes();
            if request.opcode() != LOGIN || text.len() + bytes > TEXT_MAXIMUM {
                let what = format!("opcode {:#04x} with {bytes} bytes", request.opcode());
                return Err(End::Bad(ClientErrorKind::Protocol, format!("login: {what}")));
            }
            let data = Digests::default().receive_data(self.input, bytes)?;
            text.extend_from_slice(data);
            self.agreed.cmd_sn = request.cmd_sn();
            if request.bytes[1] & CONTINUES != 0 {
                self.respond(&request, false, &[])?;
                continue;
            }
            let keys = Keys::decode(&std::mem::take(&mut text))?;
            let mut answers = Vec::new();
            match self.step(&request, &keys, &mut answers) {
                Ok(moves_on) => {
                    let is_last = moves_on && request.bytes[1] & 3 == FULL_FEATURE;
                    if is_last {
                        (self.settle)();
                    }
                    self.respond(&request, moves_on, &answers)?;
                    if is_last {
                        return Ok(self.agreed);
                    }
                }
                Err((status, why)) => return Err(self.refuse(&request, status, why)),
            }
        }
        let why = format!("a login of more than {REQUESTS} requests");
        Err(End::Bad(ClientErrorKind::Protocol, why))
    }

    /// Handles one request; returns whether the stage that it asks for is entered.
    fn step(
        &mut self,
        request: &Received,
        keys: &Keys,
        answers: &mut Vec<u8>,
    ) -> Result<bool, Refusal> {
        let flags = request.bytes[1];
        let (stage, next) = (flags >> 2 & 3, flags & 3);
        let wants_next = flags & FINAL != 0;
        if !self.has_begun {
            self.begin(request, keys, answers)?;
        }
        if wants_next && !(next > stage && next != 2) {
            let why = format!("stage {next} after stage {stage}");
            return Err((INITIATOR_ERROR, why));
        }
        match stage {
            SECURITY => self.security(keys, answers)?,
            OPERATIONAL if !self.is_authenticated => {
                let why = "no authentication: CHAP is required".to_owned();
                return Err((AUTHENTICATION_FAILED, why));
            }
            OPERATIONAL => {
                let negotiated = self.agreed.parameters.negotiate(keys, answers);
                negotiated.map_err(|why| (INITIATOR_ERROR, why))?;
                if !std::mem::replace(&mut self.has_declared, true) {
                    put(answers, "MaxRecvDataSegmentLength", &RECEIVED_MAXIMUM.to_string());
                }
            }
            _ => return Err((INITIATOR_ERROR, format!("stage {stage}"))),
        }
        Ok(wants_next && self.is_authenticated)
    }

    /// Handles the keys of the first request.
    fn begin(
        &mut self,
        request: &Received,
        keys: &Keys,
        answers: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        self.has_begun = true;
        self.agreed.isid.copy_from_slice(&request.bytes[8..14]);
        if request.bytes[3] > 0 {
            let why = format!("version {} at least: this is version 0", request.bytes[3]);
            return Err((NO_SUCH_VERSION, why));
        }
        if request.bytes[14..16] != [0, 0] {
            let why = "a connection for a session that exists: a session has one".to_owned();
            return Err((NO_SUCH_SESSION, why));
        }
        let missing = |key: &str| (MISSING_PARAMETER, format!("{key}: is missing"));
        let initiator = keys.get("InitiatorName").filter(|name| !name.is_empty());
        let initiator = initiator.ok_or_else(|| missing("InitiatorName"))?;
        self.agreed.initiator = initiator.to_owned();
        self.agreed.is_discovery = match keys.get("SessionType") {
            Some("Discovery") => true,
            None | Some("Normal") => false,
            Some(kind) => return Err((NO_SUCH_SESSION_TYPE, format!("SessionType={kind}"))),
        };
        if self.agreed.is_discovery {
            return Ok(());
        }
        let name = keys.get("TargetName").ok_or_else(|| missing("TargetName"))?;
        if name != self.target.name() {
            let why = format!("target '{name}': this is '{}'", self.target.name());
            return Err((NOT_FOUND, why));
        }
        put(answers, "TargetPortalGroupTag", "1");
        Ok(())
    }

    /// Handles the keys of the security stage.
    fn security(&mut self, keys: &Keys, answers: &mut Vec<u8>) -> Result<(), Refusal> {
        let failed = |why: String| (AUTHENTICATION_FAILED, why);
        let secrets = self.target.secrets.as_ref();
        if let Some(methods) = keys.get("AuthMethod") {
            let method = if secrets.is_some() { "CHAP" } else { "None" };
            if !methods.split(',').any(|each| each == method) {
                return Err(failed(format!("AuthMethod={methods}: must have {method}")));
            }
            put(answers, "AuthMethod", method);
        }
        let Some(secrets) = secrets else {
            return Ok(());
        };
        if let Some(list) = keys.get("CHAP_A") {
            let (hash, number) = Hash::choose(list)
                .ok_or_else(|| failed(format!("CHAP_A={list}: must have 5 or 7")))?;
            let challenge = Challenge::new(hash).map_err(|why| (SERVICE_UNAVAILABLE, why))?;
            put(answers, "CHAP_A", number);
            put(answers, "CHAP_I", &challenge.id());
            put(answers, "CHAP_C", &challenge.value());
            self.challenge = Some(challenge);
        }
        let (Some(name), Some(response)) = (keys.get("CHAP_N"), keys.get("CHAP_R")) else {
            return Ok(());
        };
        // A challenge is good for one response.
        let challenge = self.challenge.take();
        let challenge =
            challenge.ok_or_else(|| failed("CHAP_R: without a challenge".to_owned()))?;
        if !challenge.is_answered(secrets, name, response) {
            return Err(failed(format!("CHAP_N={name}: unknown, or with another secret")));
        }
        if let (Some(id), Some(value)) = (keys.get("CHAP_I"), keys.get("CHAP_C")) {
            let (name, response) =
                challenge.answer(secrets, id, value).map_err(|why| failed(why.to_owned()))?;
            put(answers, "CHAP_N", &name);
            put(answers, "CHAP_R", &response);
        }
        self.is_authenticated = true;
        Ok(())
    }

    fn respond(&mut self, request: &Received, moves_on: bool, text: &[u8]) -> Result<(), End> {
        let asked = request.bytes[1];
        let next = if moves_on { FINAL | asked & 3 } else { 0 };
        self.send(request, asked & 0x0c | next, (0, 0), text)
    }

    /// Sends a refusal; returns the end of the connection.
    fn refuse(&mut self, request: &Received, status: (u8, u8), why: String) -> End {
        match self.send(request, request.bytes[1] & 0x0c, status, &[]) {
            Ok(()) => End::Bad(ClientErrorKind::Handshake, why),
            Err(end) => end,
        }
    }

    fn send(
        &mut self,
        request: &Received,
        flags: u8,
        (class, detail): (u8, u8),
        text: &[u8],
    ) -> Result<(), End> {
        let mut head = header(LOGIN_RESPONSE, flags, 0, request.tag());
        head[8..14].copy_from_slice(&self.agreed.isid);
        if flags & FINAL != 0 && flags & 3 == FULL_FEATURE {
            head[14..16].copy_from_slice(&self.tsih.to_be_bytes());
        }
        set(&mut head, 24, self.agreed.stat_sn);
        set(&mut head, 28, self.agreed.cmd_sn);
        set(&mut head, 32, self.agreed.cmd_sn);
        (head[36], head[37]) = (class, detail);
        self.agreed.stat_sn = self.agreed.stat_sn.wrapping_add(1);
        let mut data = text.to_vec();
        Digests::default().seal(&mut head, &mut data);
        self.input.answer(&head)?;
        self.input.answer(&data)
    }
}
