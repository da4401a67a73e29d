//! Plans, reports and requests as bytes, and back.

use super::{Ask, Enforced, Force, Hold, Layers, Plan, Report, Screen, Step};

impl Ask {
    /// As it travels.
    pub fn encode(self) -> [u8; 1] {
        match self {
            Self::Run => *b"R",
            Self::Count => *b"?",
            Self::Sweep => *b"K",
        }
    }

    /// From its bytes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        match bytes {
            b"R" => Some(Self::Run),
            b"?" => Some(Self::Count),
            b"K" => Some(Self::Sweep),
            _ => None,
        }
    }
}

impl Report {
    /// As it travels.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        match self {
            Self::First => to.byte(b'I'),
            Self::Terminal => to.byte(b'T'),
            Self::Started(force) => {
                to.byte(b'S');
                to.number(u64::from(force.landlock_abi));
                to.byte(match force.landlock {
                    Enforced::Not => 0,
                    Enforced::Partly => 1,
                    Enforced::Fully => 2,
                });
                to.flag(force.seccomp);
                to.number(force.processes);
                to.flag(force.shared_proc);
            }
            Self::Failed {
                step,
                errno,
                detail,
            } => {
                to.byte(b'F');
                to.byte(*step as u8);
                to.number(u64::from(errno.cast_unsigned()));
                to.bytes(detail.get(..4096).unwrap_or(detail));
            }
            Self::Leader { status, others } => {
                to.byte(b'X');
                to.number(u64::from(status.cast_unsigned()));
                to.number(u64::from(*others));
            }
            Self::Alive(others) => {
                to.byte(b'A');
                to.number(u64::from(*others));
            }
            Self::Swept { left, pid } => {
                to.byte(b'D');
                to.number(u64::from(*left));
                to.number(u64::from(*pid));
            }
        }
        to.0
    }

    /// From its bytes; `None` where they are no report.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let report = match from.byte()? {
            b'I' => Self::First,
            b'T' => Self::Terminal,
            b'S' => Self::Started(Force {
                landlock_abi: from.small()?,
                landlock: match from.byte()? {
                    0 => Enforced::Not,
                    1 => Enforced::Partly,
                    2 => Enforced::Fully,
                    _ => return None,
                },
                seccomp: from.flag()?,
                processes: from.number()?,
                shared_proc: from.flag()?,
            }),
            b'F' => Self::Failed {
                step: Step::from_number(from.byte()?)?,
                errno: from.small()?.cast_signed(),
                detail: from.bytes()?,
            },
            b'X' => Self::Leader {
                status: from.small()?.cast_signed(),
                others: from.small()?,
            },
            b'A' => Self::Alive(from.small()?),
            b'D' => Self::Swept {
                left: from.small()?,
                pid: from.small()?,
            },
            _ => return None,
        };
        from.0.is_empty().then_some(report)
    }
}

impl Plan {
    /// As it travels.
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.byte(match self.hold {
            Hold::PidNamespace => 0,
            Hold::UserNamespace => 1,
            Hold::Subreaper => 2,
            Hold::Bubblewrap => 3,
        });
        to.byte(match self.layers {
            Layers::All => 0,
            Layers::Landlock => 1,
            Layers::Off => 2,
        });
        to.flag(self.network);
        to.flag(self.shared_proc);
        to.flag(self.strict_sockets);
        to.bytes(&self.bubblewrap);
        to.flag(self.run_as.is_some());
        let (user, group) = self.run_as.unwrap_or_default();
        to.number(u64::from(user));
        to.number(u64::from(group));
        to.bytes(&self.program);
        to.list(&self.arguments);
        to.list(&self.environment);
        to.bytes(&self.cwd);
        to.list(&self.writable);
        to.list(&self.readable);
        to.list(&self.hidden);
        to.list(&self.protected);
        to.number(self.processes);
        to.number(self.file_size);
        to.number(self.open_files);
        to.number(self.tmp_size);
        to.flag(self.cgroup.is_some());
        to.bytes(self.cgroup.as_deref().unwrap_or_default());
        to.flag(self.terminal.is_some());
        if let Some(screen) = self.terminal {
            to.number(u64::from(screen.rows));
            to.number(u64::from(screen.cols));
            to.flag(screen.raw);
        }
        to.flag(self.input);
        to.0
    }

    /// From its bytes; `None` where they are no plan.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Reader(bytes);
        let hold = match from.byte()? {
            0 => Hold::PidNamespace,
            1 => Hold::UserNamespace,
            2 => Hold::Subreaper,
            3 => Hold::Bubblewrap,
            _ => return None,
        };
        let layers = match from.byte()? {
            0 => Layers::All,
            1 => Layers::Landlock,
            2 => Layers::Off,
            _ => return None,
        };
        let (network, shared_proc, strict_sockets) = (from.flag()?, from.flag()?, from.flag()?);
        let bubblewrap = from.bytes()?;
        let becomes = from.flag()?;
        let identity = (from.small()?, from.small()?);
        let plan = Self {
            hold,
            layers,
            network,
            shared_proc,
            strict_sockets,
            bubblewrap,
            run_as: becomes.then_some(identity),
            program: from.bytes()?,
            arguments: from.list()?,
            environment: from.list()?,
            cwd: from.bytes()?,
            writable: from.list()?,
            readable: from.list()?,
            hidden: from.list()?,
            protected: from.list()?,
            processes: from.number()?,
            file_size: from.number()?,
            open_files: from.number()?,
            tmp_size: from.number()?,
            cgroup: {
                let joins = from.flag()?;
                let path = from.bytes()?;
                joins.then_some(path)
            },
            terminal: if from.flag()? {
                Some(from.screen()?)
            } else {
                None
            },
            input: from.flag()?,
        };
        from.0.is_empty().then_some(plan)
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list(&mut self, list: &[Vec<u8>]) {
        self.number(list.len() as u64);
        for bytes in list {
            self.bytes(bytes);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn screen(&mut self) -> Option<Screen> {
        Some(Screen {
            rows: u16::try_from(self.number()?).ok()?,
            cols: u16::try_from(self.number()?).ok()?,
            raw: self.flag()?,
        })
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.number()?).ok()?;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first.to_vec())
    }

    fn list(&mut self) -> Option<Vec<Vec<u8>>> {
        let count = self.number()?;
        (0..count).map(|_| self.bytes()).collect()
    }
}
