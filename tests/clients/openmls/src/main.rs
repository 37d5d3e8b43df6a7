// One device of a member, using OpenMLS. It has no connection to a server:
// tests/chat/private_conversations/openmls.mjs passes its data on.
//
// Each line of standard input is a request, whose response is one line of standard output. Bytes are in
// hexadecimal. If a request fails, the response is "error" and the reason. The program exits when its input ends.
use std::io::{self, BufRead, Write};

use openmls::prelude::tls_codec::{Deserialize, Serialize};
use openmls::prelude::*;
use openmls_basic_credential::SignatureKeyPair;
use openmls_rust_crypto::OpenMlsRustCrypto;
use openmls_traits::OpenMlsProvider;

const SUITE: Ciphersuite = Ciphersuite::MLS_128_DHKEMP256_AES128GCM_SHA256_P256;
const LIFE_S: u64 = 90 * 24 * 60 * 60;
const CALL_LABEL: &str = "SFrame 1.0 Base Key";
const CALL_KEY_BYTES: usize = 16;

type Fault = Box<dyn std::error::Error>;
type Answer = Result<String, Fault>;

struct Device {
    provider: OpenMlsRustCrypto,
    keys: SignatureKeyPair,
    credential: CredentialWithKey,
    group: Option<MlsGroup>,
}

fn main() -> Result<(), Fault> {
    let keys = SignatureKeyPair::new(SUITE.signature_algorithm())?;
    let credential = CredentialWithKey {
        credential: BasicCredential::new(Vec::new()).into(),
        signature_key: keys.public().into(),
    };
    let mut device = Device { provider: OpenMlsRustCrypto::default(), keys, credential, group: None };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        match device.answer(&words) {
            Ok(answer) => println!("{answer}"),
            Err(fault) => println!("error {fault}"),
        }
        io::stdout().flush()?;
    }
    Ok(())
}

impl Device {
    fn answer(&mut self, words: &[&str]) -> Answer {
        match words {
            ["key"] => Ok(hex(self.keys.public())),
            ["identity", statement] => self.identity(bytes(statement)?),
            ["package"] => self.package(),
            ["begin", group_id] => self.begin(bytes(group_id)?),
            ["join", welcome] => self.join(&bytes(welcome)?),
            ["commit", changes @ ..] => self.commit(changes),
            ["merge"] => self.merge(),
            ["seal", data, shown] => self.seal(&bytes(data)?, bytes(shown)?),
            ["open", message] => self.open(&bytes(message)?),
            ["standing"] => self.standing(),
            _ => Err("there is no such request".into()),
        }
    }

    /// Use the statement with which the device's own key vouches for this key.
    fn identity(&mut self, statement: Vec<u8>) -> Answer {
        self.credential.credential = BasicCredential::new(statement).into();
        Ok("done".into())
    }

    fn package(&mut self) -> Answer {
        let bundle = KeyPackage::builder()
            .key_package_lifetime(Lifetime::new(LIFE_S))
            .leaf_node_capabilities(capabilities())
            .build(SUITE, &self.provider, &self.keys, self.credential.clone())?;
        Ok(hex(&MlsMessageOut::from(bundle.key_package().clone()).tls_serialize_detached()?))
    }

    fn begin(&mut self, group_id: Vec<u8>) -> Answer {
        let config = MlsGroupCreateConfig::builder()
            .ciphersuite(SUITE)
            .capabilities(capabilities())
            .wire_format_policy(PURE_CIPHERTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(true)
            .build();
        let id = GroupId::from_slice(&group_id);
        self.group = Some(MlsGroup::new_with_group_id(&self.provider, &self.keys, &config, id, self.credential.clone())?);
        Ok("done".into())
    }

    fn join(&mut self, welcome: &[u8]) -> Answer {
        let MlsMessageBodyIn::Welcome(welcome) = MlsMessageIn::tls_deserialize_exact(welcome)?.extract() else {
            return Err("this is not a Welcome".into());
        };
        let config = MlsGroupJoinConfig::builder()
            .wire_format_policy(PURE_CIPHERTEXT_WIRE_FORMAT_POLICY)
            .use_ratchet_tree_extension(true)
            .build();
        let staged = StagedWelcome::new_from_welcome(&self.provider, &config, welcome, None)?;
        self.group = Some(staged.into_group(&self.provider)?);
        self.standing()
    }

    /// Commit new keys for this device. Each "+" with a key package adds a device, and each "-" with a statement removes
    /// a device. Respond with the commit, and its Welcome or "-".
    fn commit(&mut self, changes: &[&str]) -> Answer {
        let (mut adds, mut removes) = (Vec::new(), Vec::new());
        for change in changes {
            if let Some(identity) = change.strip_prefix('-') {
                removes.push(self.leaf_of(&bytes(identity)?)?);
                continue;
            }
            let package = bytes(change.strip_prefix('+').ok_or("neither + nor -")?)?;
            let MlsMessageBodyIn::KeyPackage(read) = MlsMessageIn::tls_deserialize_exact(package)?.extract() else {
                return Err("this is not a key package".into());
            };
            adds.push(read.validate(self.provider.crypto(), ProtocolVersion::Mls10)?);
        }
        let group = self.group.as_mut().ok_or("there is no group")?;
        let bundle = group
            .commit_builder()
            .propose_adds(adds)
            .propose_removals(removes)
            .force_self_update(true)
            .load_psks(self.provider.storage())?
            .build(self.provider.rand(), self.provider.crypto(), &self.keys, |_| true)?
            .stage_commit(&self.provider)?;
        let (commit, welcome, _) = bundle.into_messages();
        let welcome = match welcome {
            Some(welcome) => hex(&welcome.tls_serialize_detached()?),
            None => "-".into(),
        };
        Ok(format!("{} {welcome}", hex(&commit.tls_serialize_detached()?)))
    }

    fn leaf_of(&self, identity: &[u8]) -> Result<LeafNodeIndex, Fault> {
        let found = self.group()?.members().find(|member| member.credential.serialized_content() == identity);
        Ok(found.ok_or("nobody in the group has this statement")?.index)
    }

    /// Merge our own commit, which the server has accepted.
    fn merge(&mut self) -> Answer {
        let group = self.group.as_mut().ok_or("there is no group")?;
        group.merge_pending_commit(&self.provider)?;
        self.standing()
    }

    /// Encrypt a message with the given content, and with additional data that stays readable. Respond with the message.
    fn seal(&mut self, data: &[u8], shown: Vec<u8>) -> Answer {
        let group = self.group.as_mut().ok_or("there is no group")?;
        group.set_aad(shown);
        Ok(hex(&group.create_message(&self.provider, &self.keys, data)?.tls_serialize_detached()?))
    }

    /// Read a message from another device. Respond with "said", its author and its text, or after a commit with
    /// "commit" and the new state of the group.
    fn open(&mut self, message: &[u8]) -> Answer {
        let group = self.group.as_mut().ok_or("there is no group")?;
        let read = MlsMessageIn::tls_deserialize_exact(message)?.try_into_protocol_message()?;
        let processed = group.process_message(&self.provider, read)?;
        let sender = hex(processed.credential().serialized_content());
        match processed.into_content() {
            ProcessedMessageContent::ApplicationMessage(said) => Ok(format!("said {sender} {}", hex(&said.into_bytes()))),
            ProcessedMessageContent::StagedCommitMessage(staged) => {
                group.merge_staged_commit(&self.provider, *staged)?;
                Ok(format!("commit {}", self.standing()?))
            }
            _ => Err("it is neither a message nor a commit".into()),
        }
    }

    // Respond with the epoch, the epoch authenticator that all agreeing devices share, the call key, and the number
    // of devices.
    fn standing(&self) -> Answer {
        let group = self.group()?;
        let key = group.export_secret(self.provider.crypto(), CALL_LABEL, &[], CALL_KEY_BYTES)?;
        let (epoch, agreement) = (group.epoch().as_u64(), hex(group.epoch_authenticator().as_slice()));
        Ok(format!("{epoch} {agreement} {} {}", hex(&key), group.members().count()))
    }

    fn group(&self) -> Result<&MlsGroup, Fault> {
        self.group.as_ref().ok_or_else(|| "there is no group".into())
    }
}

/// Return the same capabilities as the page.
fn capabilities() -> Capabilities {
    Capabilities::builder()
        .versions(vec![ProtocolVersion::Mls10])
        .ciphersuites(vec![SUITE])
        .extensions(Vec::new())
        .proposals(Vec::new())
        .credentials(vec![CredentialType::Basic])
        .build()
}

fn hex(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>, Fault> {
    if text.len() % 2 != 0 || !text.is_ascii() {
        return Err("this is not hexadecimal".into());
    }
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    Ok(pairs.collect::<Result<Vec<u8>, _>>()?)
}
