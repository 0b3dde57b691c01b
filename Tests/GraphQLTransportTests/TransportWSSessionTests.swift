import GraphQLTransport
import JSON
import Testing

@Suite("graphql-transport-ws, server")
struct TransportWSSessionTests {
    static let initialise = #"{"type":"connection_init","payload":{"Authorization":"Bearer t"}}"#
    static let ready = [
        Step(.opened, "timer 10000"),
        Step(.message(initialise), "cancel timer", "authenticate t -"),
        Step(.authenticated(.accepted(welcome: [:])), #"{"type":"connection_ack"}"#),
    ]

    private func check(_ steps: [Step], limits: SocketSessionLimits = .init(), upgrade: Credentials = .init()) {
        expect(TransportWSSession(limits: limits, upgradeCredentials: upgrade), to: steps)
    }

    @Test("an operation goes from subscribe to complete")
    func operations() {
        check(
            Self.ready + [
                Step(.subscribe("a", "{q}"), "start 1 {q}"),
                Step(
                    .replied(1, .executed("{\"data\":1}")),
                    #"{"id":"a","type":"next","payload":{"data":1}}"#,
                    #"{"id":"a","type":"complete"}"#
                ),
                Step(.subscribe("a", "{q}"), "start 2 {q}"),
                Step(.subscribed(2)),
                Step(.next(1, .init(body: Array("{}".utf8)))),
                Step(.next(2, .init(body: Array("{}".utf8))), #"{"id":"a","type":"next","payload":{}}"#),
                Step(.ended(2, .completed), #"{"id":"a","type":"complete"}"#),
                Step(.next(2, .init(body: Array("{}".utf8)))),
            ]
        )
    }

    @Test("the acknowledgement brings what the service tells its clients")
    func welcome() {
        check(
            Self.ready.dropLast() + [
                Step(.authenticated(.accepted(welcome: ["v": 1])), #"{"type":"connection_ack","payload":{"v":1}}"#)
            ]
        )
    }

    @Test("who asks whether stored messages have come is told when they have")
    func replayed() {
        let ping = #"{"type":"ping","payload":{"replayed":"a"}}"#
        let pong = #"{"type":"pong","payload":{"replayed":"a"}}"#
        check(
            Self.ready + [
                // Nothing of that name runs.
                Step(.message(ping), pong),
                Step(.subscribe("a", "s"), "start 1 s"),
                Step(.message(ping)),
                Step(.subscribed(1)),
                Step(.next(1, .init(body: Array("{}".utf8))), #"{"id":"a","type":"next","payload":{}}"#),
                Step(.caughtUp(1), pong),
                Step(.caughtUp(1)),
                Step(.message(ping), pong),
                Step(.ended(1, .completed), #"{"id":"a","type":"complete"}"#),
            ]
        )
    }

    @Test("errors end their operation, never the connection")
    func errors() {
        let errors = Array(#"[{"message":"no"}]"#.utf8)
        let message = #""type":"error","payload":[{"message":"no"}]}"#
        let reply = GraphQLReply(kind: .requestError, body: Array(#"{"errors":[{"message":"no"}]}"#.utf8))
        let broken = GraphQLReply(kind: .unavailable, body: Array("oops".utf8))
        let internalError =
            #"[{"message":"The request could not be served.","extensions":{"code":"INTERNAL"}}]"#
        check(
            Self.ready + [
                Step(.subscribe("a", "q"), "start 1 q"), Step(.refused(1, errors: errors), #"{"id":"a",\#(message)"#),
                Step(.subscribe("b", "q"), "start 2 q"), Step(.replied(2, reply), #"{"id":"b",\#(message)"#),
                Step(.subscribe("c", "q"), "start 3 q"),
                Step(.ended(3, .failed(errors: errors)), #"{"id":"c",\#(message)"#),
                Step(.subscribe("d", "q"), "start 4 q"),
                Step(.replied(4, broken), #"{"id":"d","type":"error","payload":\#(internalError)}"#),
            ]
        )
    }

    @Test("complete cancels, and may come for what has ended")
    func complete() {
        check(
            Self.ready + [
                Step(.subscribe("a", "q"), "start 1 q"),
                Step(.message(#"{"type":"complete","id":"a"}"#), "cancel 1"),
                Step(.message(#"{"type":"complete","id":"a"}"#)),
                Step(.subscribed(1)),
                Step(.ended(1, .completed)),
            ]
        )
    }

    @Test("a pong waits for the subscriptions asked for before its ping, and for no others")
    func pongs() {
        check(
            Self.ready + [
                Step(.message(#"{"type":"ping","payload":{"n":0}}"#), #"{"type":"pong","payload":{"n":0}}"#),
                Step(.subscribe("a", "q"), "start 1 q"),
                Step(.message(#"{"type":"ping"}"#)),
                Step(.subscribe("b", "q"), "start 2 q"),
                Step(.pingFrame([1])),
                Step(.subscribed(1), #"{"type":"pong"}"#),
                Step(.message(#"{"type":"complete","id":"b"}"#), "cancel 2", "pong [1]"),
                Step(.pingFrame([2]), "pong [2]"),
                Step(.message(#"{"type":"pong"}"#)),
            ]
        )
    }

    @Test(
        "a message that is none of the protocol's closes with 4400 and says why",
        arguments: [
            ("", "Invalid message: Expected a value, found the end of the text"),
            ("[]", "Invalid message: it must be a JSON object"),
            ("{}", "Invalid message: \"type\" must be a string"),
            (#"{"type":1}"#, "Invalid message: \"type\" must be a string"),
            (#"{"type":"start"}"#, "Invalid message: the type \"start\" is unknown"),
            (#"{"type":"next","id":"1"}"#, "Invalid message: \"next\" is sent by servers only"),
            (#"{"type":"ping","payload":1}"#, "Invalid message: \"payload\" must be an object"),
            (#"{"type":"complete"}"#, "Invalid message: \"id\" must be a string of 1 to 256 bytes"),
            (#"{"type":"subscribe","id":""}"#, "Invalid message: \"id\" must be a string of 1 to 256 bytes"),
            (#"{"type":"subscribe","id":"1"}"#, "Invalid message: \"payload\" must be an object"),
            (
                #"{"type":"subscribe","id":"1","payload":{}}"#,
                "Invalid message: The request has no \"query\". Send the document's text as a string."
            ),
            (
                #"{"type":"subscribe","id":"1","payload":{"query":1}}"#,
                "Invalid message: \"query\" is not a string. Send the document's text as a string."
            ),
        ]
    )
    func invalid(message: String, reason: String) {
        check(Self.ready + [Step(.message(message), "close 4400 \(reason)"), Step(.message(message))])
    }

    @Test("a close reason is cut at a character boundary")
    func longReason() {
        var session = TransportWSSession(limits: .init(), upgradeCredentials: .init())
        let type = String(repeating: "é", count: 100)
        guard case .close(_, let reason)? = session.handle(.message("{\"type\":\"\(type)\"}")).first else {
            Issue.record("no close")
            return
        }
        #expect(reason.utf8.count <= 123 && reason.utf8.count > 115)
        #expect(reason.hasSuffix("é…"))
    }

    @Test("whoever is not introduced cannot subscribe")
    func unauthorized() {
        check([Step(.opened, "timer 10000"), Step(.subscribe("a", "q"), "close 4401 Unauthorized")])
        check(Array(Self.ready.prefix(2)) + [Step(.subscribe("a", "q"), "close 4401 Unauthorized")])
    }

    @Test("credentials come with connection_init or the upgrade, in this order")
    func credentials() {
        let upgrade = Credentials(authorization: "u")
        let key = #"{"type":"connection_init","payload":{"x-api-key":"k"}}"#
        let bare = #"{"type":"connection_init"}"#
        let lower = #"{"type":"connection_init","payload":{"authorization":"t","apiKey":"k"}}"#
        let wrong = #"{"type":"connection_init","payload":{"authorization":7}}"#
        check([Step(.message(key), "cancel timer", "authenticate - k")], upgrade: upgrade)
        check([Step(.message(bare), "cancel timer", "authenticate u -")], upgrade: upgrade)
        check([Step(.message(lower), "cancel timer", "authenticate t k")], upgrade: upgrade)
        check([Step(.message(bare), "close 4401 Unauthorized")])
        check([Step(.message(wrong), "close 4400 Invalid message: \"payload.authorization\" must be a string")])
    }

    @Test("the connection ends for its own reasons")
    func ends() {
        let began = Array(Self.ready.prefix(2))
        check([Step(.timer(.initialisation), "close 4408 Connection initialisation timeout")])
        check(Self.ready + [Step(.timer(.initialisation))])
        check(Self.ready + [Step(.message(Self.initialise), "close 4429 Too many initialisation requests")])
        check(began + [Step(.message(Self.initialise), "close 4429 Too many initialisation requests")])
        check(began + [Step(.authenticated(.refused(message: "no")), "close 4403 Forbidden: no")])
        check(began + [Step(.authenticated(.unavailable(message: "later")), "close 1013 later")])
        check(Self.ready + [Step(.tokenEnded, "close 4403 Forbidden: the token has expired")])
        check(Self.ready + [Step(.shutdown, "close 1001 The server is stopping"), Step(.shutdown)])
        check(Self.ready + [Step(.binary([]), "close 1003 Binary messages are not served; send text")])
        check(
            Self.ready + [
                Step(.subscribe("a", "q"), "start 1 q"),
                Step(.subscribe("a", "q"), "close 4409 Subscriber for a already exists"),
            ]
        )
    }

    @Test("one operation too many is refused by itself")
    func limit() {
        let message = "This connection runs 1 operations already; complete one first."
        let error = #"{"id":"b","type":"error","payload":[{"message":"\#(message)","extensions":{"code":"LIMIT"}}]}"#
        check(
            Self.ready + [
                Step(.subscribe("a", "q"), "start 1 q"), Step(.subscribe("b", "q"), error),
                Step(.ended(1, .completed), #"{"id":"a","type":"complete"}"#),
                Step(.subscribe("b", "q"), "start 2 q"),
            ],
            limits: SocketSessionLimits(maximumOperations: 1)
        )
    }
}
