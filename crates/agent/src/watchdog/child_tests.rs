//! The process's inside, with a server that fails.

use super::*;
use crate::decide::{Stage, manage};
use crate::testing::{MockConnector, World, usual_family, usual_lease, usual_settings};

fn child(connector: &MockConnector) -> Child<MockConnector> {
    Child {
        connector: connector.clone(),
        server: None,
        keeper: Keeper::new(Duration::from_secs(3600)),
        begun: Instant::now(),
        spoken_at: Duration::ZERO,
    }
}

fn delayed() -> MockConnector {
    let connector = MockConnector::new(World::usual());
    let leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
    let delayed = leased.options(Stage::Delayed);
    connector.world().family("default").options = delayed;
    connector
}

#[test]
fn it_holds_answers_and_restores_when_the_agent_is_gone() {
    let connector = delayed();
    let mut child = child(&connector);
    child.reach(CLAIM_PATIENCE).expect("reachable");
    let mut said = Vec::new();
    let lease = Box::new(usual_lease("here"));
    child.hear(Order::Hold { lease }, &mut said);
    child.hear(Order::Renew, &mut said);
    let said = String::from_utf8(said).expect("JSON");
    assert_eq!(said.lines().count(), 2, "{said}");
    child.restore_if_due();
    assert_ne!(*connector.world().family("default"), usual_family());
    child.keeper.lose_agent(child.now());
    child.restore_if_due();
    assert_eq!(*connector.world().family("default"), usual_family());
    assert_eq!(child.keeper.due(child.now()), Due::Leave);
}

#[test]
fn it_tries_until_the_server_is_back() {
    let connector = delayed();
    let mut child = child(&connector);
    child.reach(CLAIM_PATIENCE).expect("reachable");
    child.hear(
        Order::Hold {
            lease: Box::new(usual_lease("here")),
        },
        &mut Vec::new(),
    );
    connector.world().cut();
    connector.world().reachable = false;
    child.keeper.lose_agent(child.now());
    for _ in 0..3 {
        child.restore_if_due();
        assert_eq!(child.keeper.due(child.now()), Due::Restore);
    }
    connector.world().reachable = true;
    connector.world().lies = 1;
    child.restore_if_due();
    assert_eq!(child.keeper.due(child.now()), Due::Restore, "it lied");
    child.restore_if_due();
    assert_eq!(child.keeper.due(child.now()), Due::Leave);
    assert_eq!(*connector.world().family("default"), usual_family());
}

#[test]
fn orders_end_with_the_pipe() {
    let text = line(&Order::Renew) + "noise\n" + &line(&Order::Release);
    let orders = listen(std::io::Cursor::new(text));
    let heard: Vec<Order> = orders.iter().collect();
    assert_eq!(heard, [Order::Renew, Order::Release]);
}

#[test]
fn it_is_nothing_to_start_by_hand() {
    let error = watch(std::io::empty(), std::io::sink()).expect_err("no agent");
    assert!(error.to_string().contains("lissom attach"), "{error}");
}
