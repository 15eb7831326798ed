//! A random history of operations, as data. Which of them apply is decided by
//! the model, so any part of a history is a history too.

use crate::random::Random;

/// Column family 0 is the default one; the others come and go.
pub type Cf = u8;
pub const FAMILIES: Cf = 4;

/// Numbers of keys that everything is done to.
pub const KEYS: u32 = 3_000;
/// Numbers of keys that are only put once and then deleted by SingleDelete.
pub const SINGLE_KEYS: u32 = 200;

pub fn family_name(cf: Cf) -> String {
    match cf {
        0 => "default".into(),
        other => format!("family-{other}"),
    }
}

pub fn key(number: u32) -> Vec<u8> {
    format!("k{number:06}").into_bytes()
}

/// Sorted after all others, out of reach of range deletes.
pub fn single_key(number: u32) -> Vec<u8> {
    format!("s{number:06}").into_bytes()
}

/// A value in short: its bytes follow from its tag.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub tag: u64,
    pub len: u16,
}

impl Value {
    pub fn bytes(self) -> Vec<u8> {
        let mut bytes = format!("{:x}:", self.tag).into_bytes();
        let mut random = Random::new(self.tag);
        while bytes.len() < usize::from(self.len) {
            bytes.extend(random.next().to_le_bytes());
        }
        bytes
    }
}

#[derive(Clone, Debug)]
pub enum Write {
    Put(u32, Value),
    Delete(u32),
    Merge(u32, Value),
    DeleteRange(u32, u32),
}

/// What an iterator or a scan may see.
#[derive(Clone, Debug)]
pub struct Range {
    pub lower: Option<u32>,
    pub upper: Option<u32>,
    /// Where it begins; at the end of the range when absent.
    pub start: Option<u32>,
    pub backward: bool,
}

#[derive(Clone, Debug)]
pub enum Op {
    Write(Cf, Write),
    Batch(Vec<(Cf, Write)>),
    /// `count` puts, `step` apart.
    Fill {
        cf: Cf,
        start: u32,
        step: u32,
        count: u32,
        value: Value,
    },
    PutOnce(Cf, u32, Value),
    SingleDelete(Cf, u32),
    Ingest(Cf, Vec<(u32, Option<Value>)>),
    Flush(Cf),
    Create(Cf),
    Drop(Cf),
    Snapshot(u8),
    Release(u8),
    Get(Cf, u32, Option<u8>),
    GetSingle(Cf, u32),
    MultiGet(Cf, Vec<u32>),
    Scan(Cf, Range, usize, Option<u8>),
    OpenIterator(u8, Cf, Range, Option<u8>),
    /// So many entries, then in the other direction so many.
    Step(u8, u8, u8),
    CloseIterator(u8),
    /// No snapshot and no iterator lives on; all families are read whole.
    Quiet,
}

struct Writer {
    random: Random,
    tag: u64,
    /// Where most operations are for a while.
    hot: u32,
}

/// `length` operations from a seed.
pub fn history(seed: u64, length: usize) -> Vec<Op> {
    let mut writer = Writer {
        random: Random::new(seed),
        tag: seed << 32,
        hot: 0,
    };
    let mut ops: Vec<Op> = (1..FAMILIES).map(Op::Create).collect();
    while ops.len() < length {
        if ops.len() % 400 == 399 {
            ops.push(Op::Quiet);
            writer.hot = writer.random.below(u64::from(KEYS)) as u32;
        }
        let op = writer.op();
        ops.push(op);
    }
    ops.push(Op::Quiet);
    ops
}

impl Writer {
    fn op(&mut self) -> Op {
        let cf = self.cf();
        match self.random.below(100) {
            0..18 => Op::Write(cf, self.write()),
            18..25 => Op::Batch(self.batch()),
            25..33 => self.fill(cf),
            33..37 => Op::PutOnce(cf, self.single(), self.value()),
            37..40 => Op::SingleDelete(cf, self.single()),
            40..42 => Op::Ingest(cf, self.external_file()),
            42..44 => Op::Flush(cf),
            44 => self.come_or_go(),
            45..48 => Op::Snapshot(self.slot()),
            48 => Op::Release(self.slot()),
            49..65 => Op::Get(cf, self.key(), self.view()),
            65..68 => Op::GetSingle(cf, self.single()),
            68..71 => Op::MultiGet(cf, (0..8).map(|_| self.key()).collect()),
            71..85 => {
                let limit = self.random.within(1, 60) as usize;
                Op::Scan(cf, self.range(), limit, self.view())
            }
            85..89 => Op::OpenIterator(self.slot(), cf, self.range(), self.view()),
            89..99 => {
                let (there, back) = (self.random.below(30), self.random.below(10));
                Op::Step(self.slot(), there as u8, back as u8)
            }
            _ => Op::CloseIterator(self.slot()),
        }
    }

    fn cf(&mut self) -> Cf {
        // Half of all for one family, so that its tree gets deep.
        if self.random.percent(50) {
            0
        } else {
            self.random.below(u64::from(FAMILIES)) as Cf
        }
    }

    fn slot(&mut self) -> u8 {
        self.random.below(4) as u8
    }

    fn view(&mut self) -> Option<u8> {
        let slot = self.slot();
        self.random.percent(40).then_some(slot)
    }

    fn key(&mut self) -> u32 {
        if self.random.percent(50) {
            (self.hot + self.random.below(100) as u32) % KEYS
        } else {
            self.random.below(u64::from(KEYS)) as u32
        }
    }

    fn single(&mut self) -> u32 {
        self.random.below(u64::from(SINGLE_KEYS)) as u32
    }

    fn value(&mut self) -> Value {
        self.tag += 1;
        let longest = self.random.pick(&[20, 200, 600]);
        Value {
            tag: self.tag,
            len: self.random.within(10, longest) as u16,
        }
    }

    fn write(&mut self) -> Write {
        match self.random.below(20) {
            0..10 => Write::Put(self.key(), self.value()),
            10..14 => Write::Delete(self.key()),
            14..18 => Write::Merge(
                self.key(),
                Value {
                    len: 12,
                    ..self.value()
                },
            ),
            _ => {
                let (from, to) = self.two_keys(200);
                Write::DeleteRange(from, to)
            }
        }
    }

    fn two_keys(&mut self, most_apart: u64) -> (u32, u32) {
        let from = self.key();
        (from, from + 1 + self.random.below(most_apart) as u32)
    }

    fn batch(&mut self) -> Vec<(Cf, Write)> {
        let count = self.random.within(1, 40);
        (0..count).map(|_| (self.cf(), self.write())).collect()
    }

    fn fill(&mut self, cf: Cf) -> Op {
        Op::Fill {
            cf,
            start: self.key(),
            step: self.random.pick(&[1, 1, 3, 7]),
            count: self.random.within(20, 350) as u32,
            value: self.value(),
        }
    }

    fn external_file(&mut self) -> Vec<(u32, Option<Value>)> {
        let mut key = self.key();
        let count = self.random.within(1, 200);
        (0..count)
            .map(|_| {
                key += self.random.within(1, 5) as u32;
                let value = self.value();
                (key, (!self.random.percent(15)).then_some(value))
            })
            .collect()
    }

    fn come_or_go(&mut self) -> Op {
        let cf = self.random.within(1, u64::from(FAMILIES) - 1) as Cf;
        if self.random.percent(70) {
            Op::Create(cf)
        } else {
            Op::Drop(cf)
        }
    }

    fn range(&mut self) -> Range {
        let (lower, upper) = self.two_keys(600);
        let start = self.key();
        Range {
            lower: self.random.percent(40).then_some(lower),
            upper: self.random.percent(40).then_some(upper),
            start: self.random.percent(70).then_some(start),
            backward: self.random.percent(40),
        }
    }
}
