//! An approval program: a program of the operator that answers in a person's place.
//!
//! It reads the request as JSON on stdin and prints one JSON object: `{"decision": "approve" | "refuse" | "pass",
//! "reason": "…"}` with exit status 0. `pass` leaves the question to the next approver. Guarantees that whatever else
//! happens, a crash, garbage, silence, too long a time, is a refusal that says what broke.

use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;

use crate::gate::{Answer, ApprovalRequest, Approver};
use crate::program::{Program, ProgramError};

/// The most characters of a reason that are kept.
const MAX_REASON: usize = 2_000;

/// See the module.
#[derive(Clone, Debug)]
pub struct ApprovalProgram {
    program: Program,
    timeout: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Printed {
    decision: Word,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Approve,
    Refuse,
    Pass,
}

impl ApprovalProgram {
    /// A program with its arguments, and how long it may take.
    ///
    /// # Errors
    /// The command is empty, or its program is not found here and now.
    pub fn new(command: &[String], timeout: Duration) -> Result<Self, ProgramError> {
        Ok(Self {
            program: Program::find(command)?,
            timeout,
        })
    }

    async fn consult(&self, request: &ApprovalRequest) -> Result<Printed, String> {
        let input = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        let ran = self
            .program
            .run(input, self.timeout)
            .await
            .map_err(|error| error.to_string())?;
        if ran.status.code() != Some(0) {
            return Err(format!("ended with {}", ran.status));
        }
        serde_json::from_str(&ran.stdout)
            .map_err(|error| format!("printed something that is not a decision: {error}"))
    }
}

#[async_trait]
impl Approver for ApprovalProgram {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let by = format!("the approval program '{}'", self.program.name());
        let cut = |reason: String| reason.chars().take(MAX_REASON).collect();
        match self.consult(request).await {
            Ok(Printed {
                decision: Word::Approve,
                reason: _,
            }) => Answer::Approved { by, always: false },
            Ok(Printed {
                decision: Word::Refuse,
                reason,
            }) => Answer::Refused {
                by,
                message: reason.map(cut),
            },
            Ok(Printed {
                decision: Word::Pass,
                reason: _,
            }) => Answer::Nobody,
            Err(broke) => Answer::Refused {
                by,
                message: Some(format!("it does not work: {broke}")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::render::tests::request;

    async fn answer(script: &str) -> Answer {
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        let program = ApprovalProgram::new(&command, Duration::from_secs(2)).unwrap();
        let request = request("Write", serde_json::json!({"file_path": "a.txt"}));
        program.ask(&request).await
    }

    #[tokio::test]
    async fn the_three_words() {
        let approved = answer(r#"grep -q '"file_path":"a.txt"' && echo '{"decision":"approve"}'"#);
        assert!(matches!(
            approved.await,
            Answer::Approved { by, always: false } if by.contains("approval program '/bin/sh -c grep")
        ));
        let refused = answer(r#"echo '{"decision":"refuse","reason":"not here"}'"#).await;
        assert!(matches!(refused, Answer::Refused { message: Some(m), .. } if m == "not here"));
        let passed = answer(r#"echo '{"decision":"pass"}'"#).await;
        assert_eq!(passed, Answer::Nobody);
    }

    #[tokio::test]
    async fn whatever_else_happens_is_a_refusal() {
        for (script, broke) in [
            ("exit 1", "ended with exit status: 1"),
            (r#"echo '{"decision":"approve"}'; exit 3"#, "exit status: 3"),
            ("kill -KILL $$", "ended with signal: 9"),
            ("", "not a decision"),
            ("echo yes", "not a decision"),
            (r#"echo '{"decision":"allow"}'"#, "unknown variant `allow`"),
            (r#"echo '{"reason":"so"}'"#, "missing field `decision`"),
            (
                r#"echo '{"decision":"approve","always":true}'"#,
                "unknown field `always`",
            ),
            (r#"echo '{"decision":"approve"} more'"#, "not a decision"),
            (
                r#"echo '{"decision":"approve","decision":"refuse"}'"#,
                "duplicate field",
            ),
            ("head -c 2000000 /dev/zero", "more than 1 MiB"),
            (
                r#"echo '{"decision":"approve"}'; sleep 60"#,
                "took more than 2000 ms",
            ),
        ] {
            match answer(script).await {
                Answer::Refused {
                    by,
                    message: Some(message),
                } => {
                    assert!(message.contains(broke), "{script}: {message}");
                    assert!(by.contains(script), "{by}");
                }
                other => panic!("{script}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_program_that_went_away_refuses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approve.sh");
        std::os::unix::fs::symlink("/bin/sh", &path).unwrap();
        let command = [path.to_str().unwrap().to_owned()];
        let program = ApprovalProgram::new(&command, Duration::from_secs(2)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let answer = program.ask(&request("Write", serde_json::json!({}))).await;
        assert!(matches!(
            answer,
            Answer::Refused { message: Some(m), .. } if m.contains("could not start")
        ));
        assert!(ApprovalProgram::new(&command, Duration::from_secs(2)).is_err());
    }
}
