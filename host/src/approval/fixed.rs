//! A fixed answer, for tests and for where nobody can be asked.

use async_trait::async_trait;

use crate::gate::{Answer, ApprovalRequest, Approver};

/// Always the same answer.
#[derive(Clone, Debug)]
pub struct Fixed(Answer);

impl Fixed {
    /// Nobody is there: what has to be asked is denied. The default wherever no person is attached.
    pub fn nobody() -> Self {
        Self(Answer::Nobody)
    }

    /// Yes to everything that is asked. Whoever builds the host with it answers for it, under this name.
    pub fn approve(by: impl Into<String>) -> Self {
        Self(Answer::Approved {
            by: by.into(),
            always: false,
        })
    }

    /// No to everything that is asked.
    pub fn refuse(by: impl Into<String>, message: Option<String>) -> Self {
        Self(Answer::Refused {
            by: by.into(),
            message,
        })
    }
}

#[async_trait]
impl Approver for Fixed {
    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        self.0.clone()
    }
}
