//! Lines to messages and back.

use super::*;
use proptest::prelude::*;

#[test]
fn orders_are_lines_of_json() {
    let hello = Order::Hello {
        version: VERSION,
        lissom: "0.1.0".to_owned(),
        workers: None,
        memory_bytes: 1 << 20,
        waits: true,
        keep: false,
    };
    assert_eq!(
        hello.encode().expect("plain data"),
        "{\"message\":\"hello\",\"version\":1,\"lissom\":\"0.1.0\",\"workers\":null,\
         \"memory_bytes\":1048576,\"waits\":true,\"keep\":false}\n"
    );
    let start = Order::Start {
        run: 3,
        label: "trial-3".to_owned(),
        command: vec!["prog".to_owned(), "{options}".to_owned()],
        options: "a=1\nb=\"2\"\n".to_owned(),
    };
    let line = start.encode().expect("plain data");
    assert_eq!(line.matches('\n').count(), 1, "one line: {line}");
    let value: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(value["message"], "start");
    assert_eq!(value["options"], "a=1\nb=\"2\"\n");
    assert_eq!(value["command"][1], "{options}");
    for (order, text) in [
        (
            Order::Pause { run: 7 },
            "{\"message\":\"pause\",\"run\":7}\n",
        ),
        (
            Order::GoOn { run: 7 },
            "{\"message\":\"go_on\",\"run\":7}\n",
        ),
        (Order::Stop { run: 7 }, "{\"message\":\"stop\",\"run\":7}\n"),
    ] {
        assert_eq!(order.encode().expect("plain data"), text);
    }
}

#[test]
fn each_kind_of_news() {
    let run = 3;
    let owned = str::to_owned;
    for (line, wanted) in [
        ("{\"message\": \"beat\", \"more\": [1]}\n", News::Beat),
        (
            "{\"message\": \"started\", \"run\": 3, \"place\": \"10.0.0.7\"}",
            News::Started {
                run,
                place: owned("10.0.0.7"),
            },
        ),
        (
            "{\"message\": \"line\", \"run\": 3, \"at\": 2, \"line\": \"{\\\"a\\\": 1}\"}",
            News::Line {
                run,
                at: 2.0,
                line: owned("{\"a\": 1}"),
            },
        ),
        (
            "{\"message\": \"weighed\", \"run\": 3, \"at\": 2.5, \"memory_bytes\": 7}",
            News::Weighed {
                run,
                at: 2.5,
                memory_bytes: 7,
            },
        ),
        (
            "{\"message\": \"ended\", \"run\": 3, \"at\": 2.5, \"how\": \"exit status: 1\"}",
            News::Ended {
                run,
                at: 2.5,
                how: owned("exit status: 1"),
                killed: false,
            },
        ),
        (
            "{\"message\": \"stopped\", \"run\": 3}",
            News::Stopped { run, remark: None },
        ),
        (
            "{\"message\": \"failed\", \"why\": \"no machine is left\"}",
            News::Failed {
                why: owned("no machine is left"),
            },
        ),
    ] {
        assert_eq!(News::parse(line), Ok(wanted), "{line}");
    }
    let hello = "{\"message\":\"hello\",\"version\":1,\"name\":\"x\",\"workers\":2,\
                 \"pauses\":true,\"alive\":9}";
    let Ok(News::Hello(greeting)) = News::parse(hello) else {
        panic!("a greeting");
    };
    assert_eq!((greeting.workers, greeting.alive), (2, Some(9)));
}

#[test]
fn what_is_no_message_is_a_sentence() {
    for (line, says) in [
        ("", "printed what is no message: \"\""),
        (
            "Connecting ...\u{1b}[2J",
            "no message: \"Connecting ... [2J\"",
        ),
        ("{\"message\": \"beat\"", "printed what is no message"),
        (
            "{\"throughput\": 1}",
            "cannot be understood: missing field `message`",
        ),
        ("[1]", "printed what is no message"),
        (
            "{\"message\": \"reached\", \"run\": 1}",
            "unknown variant `reached`",
        ),
        (
            "{\"message\": \"paused\", \"run\": 1}",
            "missing field `at`",
        ),
        (
            "{\"message\": \"paused\", \"run\": -1, \"at\": 0}",
            "cannot be understood",
        ),
        (
            "{\"message\": \"paused\", \"run\": 1, \"at\": -1}",
            "at is less than 0",
        ),
        (
            "{\"message\": \"paused\", \"run\": 1, \"at\": 1e999}",
            "is no message",
        ),
        (
            "{\"message\": \"hello\", \"version\": 2, \"of\": \"another kind\"}",
            "speaks version 2 of the protocol, this program version 1",
        ),
        (
            "{\"message\": \"hello\", \"workers\": 2}",
            "speaks no version",
        ),
    ] {
        let error = News::parse(line).expect_err(line).to_string();
        assert!(error.contains(says), "{line}: {error}");
    }
}

proptest! {
    #[test]
    fn no_line_is_too_strange(line in ".*") {
        let _ = News::parse(&line);
    }
}
