import GraphQLTransport
import JSON
import Testing

@Suite("graphql-transport-ws, client")
struct TransportWSClientSessionTests {
    typealias Event = TransportWSClientSession.Event
    typealias Action = TransportWSClientSession.Action

    private func check(_ steps: [(Event, [Action])]) {
        var session = TransportWSClientSession(credentials: Credentials(authorization: "t"))
        for (index, step) in steps.enumerated() {
            #expect(session.handle(step.0) == step.1, "step \(index)")
        }
    }

    private static let opened: (Event, [Action]) = (
        .opened, [.sendText(#"{"type":"connection_init","payload":{"Authorization":"Bearer t"}}"#)]
    )
    private static let connected: (Event, [Action]) = (
        .message(#"{"type":"connection_ack"}"#), [.connected(payload: [:])]
    )

    @Test("an operation asked for early is sent after the acknowledgement, and followed to its end")
    func operation() {
        let request = GraphQLRequest(query: "q", variables: ["x": 1], operationName: "N")
        let sent = #"{"id":"1","type":"subscribe","payload":{"query":"q","variables":{"x":1},"operationName":"N"}}"#
        check([
            Self.opened,
            (.subscribe(id: "1", request), []),
            (
                .message(#"{"type":"connection_ack","payload":{"a":1}}"#),
                [.connected(payload: ["a": 1]), .sendText(sent)]
            ),
            (.message(#"{"type":"next","id":"1","payload":{"data":2}}"#), [.next(id: "1", response: ["data": 2])]),
            (.message(#"{"type":"complete","id":"1"}"#), [.completed(id: "1")]),
            (.message(#"{"type":"next","id":"1","payload":{"data":3}}"#), []),
        ])
    }

    @Test("an operation of a document that the server knows is sent without text")
    func named() {
        let request = GraphQLRequest(query: "", documentID: "d")
        check([
            Self.opened, Self.connected,
            (.subscribe(id: "1", request), [.sendText(#"{"id":"1","type":"subscribe","payload":{"documentId":"d"}}"#)]),
        ])
    }

    @Test("an operation fails, is completed by us, or is interrupted")
    func ends() {
        let request = GraphQLRequest(query: "q")
        let subscribe = { (id: String) -> (Event, [Action]) in
            (
                .subscribe(id: id, request),
                [.sendText("{\"id\":\"\(id)\",\"type\":\"subscribe\",\"payload\":{\"query\":\"q\"}}")]
            )
        }
        check([
            Self.opened, Self.connected, subscribe("1"), subscribe("2"), subscribe("3"), subscribe("4"),
            (
                .message(#"{"type":"error","id":"1","payload":[{"message":"m"}]}"#),
                [.failed(id: "1", errors: [["message": "m"]])]
            ),
            (.complete(id: "2"), [.sendText(#"{"id":"2","type":"complete"}"#)]),
            (.complete(id: "2"), []),
            (.closed(code: 1001, reason: "bye"), [.interrupted(id: "3"), .interrupted(id: "4")]),
            (.message(#"{"type":"ping"}"#), []),
        ])
    }

    @Test("pings are answered both ways")
    func pings() {
        check([
            Self.opened, Self.connected,
            (.message(#"{"type":"ping","payload":{"n":1}}"#), [.sendText(#"{"type":"pong","payload":{"n":1}}"#)]),
            (.ping(payload: nil), [.sendText(#"{"type":"ping"}"#)]),
            (.message(#"{"type":"pong"}"#), [.alive(payload: [:])]),
            (.ping(payload: ["n": 1]), [.sendText(#"{"type":"ping","payload":{"n":1}}"#)]),
            (.message(#"{"type":"pong","payload":{"n":1}}"#), [.alive(payload: ["n": 1])]),
        ])
    }

    @Test(
        "a server that breaks the protocol is left",
        arguments: [
            "nonsense", "{}", #"{"type":"subscribe"}"#, #"{"type":"connection_ack"}"#, #"{"type":"next","id":"1"}"#,
            #"{"type":"next","payload":{}}"#, #"{"type":"error","id":"1","payload":{}}"#, #"{"type":"complete"}"#,
        ]
    )
    func broken(message: String) {
        var session = TransportWSClientSession(credentials: Credentials())
        _ = session.handle(.opened)
        _ = session.handle(.message(#"{"type":"connection_ack"}"#))
        _ = session.handle(.subscribe(id: "1", GraphQLRequest(query: "q")))
        let actions = session.handle(.message(message))
        #expect(actions.first == .interrupted(id: "1"))
        guard case .close(let code, _)? = actions.last else {
            Issue.record("not closed: \(actions)")
            return
        }
        #expect(code == 4400)
    }

    @Test("client and server understand each other")
    func together() {
        var client = TransportWSClientSession(credentials: Credentials(apiKey: "k"))
        var server = TransportWSSession(limits: .init(), upgradeCredentials: .init())
        var serverActions: [SessionAction] = []
        var clientActions: [Action] = []
        func run(_ event: Event) {
            for action in client.handle(event) {
                clientActions.append(action)
                guard case .send(let bytes) = action else { continue }
                serve(.text(bytes))
            }
        }
        func serve(_ event: SessionEvent) {
            for action in server.handle(event) {
                serverActions.append(action)
                if case .send(let message) = action { run(.text(message.bytes)) }
                if case .authenticate = action { serve(.authenticated(.accepted(welcome: [:]))) }
                if case .start(let number, _) = action { serve(.replied(number, .executed("{\"data\":1}"))) }
            }
        }
        serve(.opened)
        run(.opened)
        run(.subscribe(id: "1", GraphQLRequest(query: "q")))
        #expect(clientActions.suffix(2) == [.next(id: "1", response: ["data": 1]), .completed(id: "1")])
        #expect(serverActions.contains(.authenticate(Credentials(apiKey: "k"))))
    }
}

extension TransportWSClientSession.Event {
    static func message(_ text: String) -> Self { .text(Array(text.utf8)) }
}

extension TransportWSClientSession.Action {
    static func sendText(_ text: String) -> Self { .send(Array(text.utf8)) }
}
