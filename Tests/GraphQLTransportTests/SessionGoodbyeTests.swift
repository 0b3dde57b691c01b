import GraphQLTransport
import JSON
import Testing

@Suite("Goodbyes and newer credentials")
struct SessionGoodbyeTests {
    private static let tooMuch = "Too much is waiting to be read. Subscribe again after the last cursor."
    private static let lifetime = "close 1001 This connection has lived its time; come again and resume"
    private static let slow = "close 1013 Too much is waiting to be read; come again and resume"

    private static func event(_ body: String, _ cursor: String?) -> SharedResponse {
        SharedResponse(body: Array(body.utf8), cursor: cursor)
    }

    private func common(_ steps: [Step]) {
        let session = TransportWSSession(limits: .init(), upgradeCredentials: .init())
        expect(session, to: TransportWSSessionTests.ready + steps)
    }

    @Test("who does not read is told each operation's last cursor, then closed with 1013")
    func overflow() {
        let next = #""type":"next","payload":{}}"#
        let error = #""type":"error","payload":[{"message":"\#(Self.tooMuch)","extensions":{"code":"UNAVAILABLE""#
        common([
            Step(.subscribe("a", "s"), "start 1 s"), Step(.subscribed(1)),
            Step(.subscribe("b", "s"), "start 2 s"), Step(.subscribed(2)),
            Step(.next(1, Self.event("{}", "c1")), #"{"id":"a",\#(next)"#),
            Step(.next(1, Self.event("{}", "c2")), #"{"id":"a",\#(next)"#),
            Step(
                .overflowed(lastCursors: [1: "c2"]),
                #"{"id":"a",\#(error),"cursor":"c2"}}]}"#,
                #"{"id":"b",\#(error)}}]}"#,
                Self.slow
            ),
            Step(.next(1, Self.event("{}", "c3"))),
        ])
    }

    @Test("AppSync's clients are told the same in their own words")
    func overflowOfAppSync() {
        let errors =
            #"[{"errorType":"InternalFailure","message":"\#(Self.tooMuch)","#
            + #""extensions":{"code":"UNAVAILABLE","cursor":"c1"}}]"#
        let start = #"{"id":"a","type":"start","payload":{"data":"{\"query\":\"s\"}"}}"#
        let handshake = AppSyncHandshake.credentials(Credentials(authorization: "t"))
        var session = AppSyncSession(limits: .init(), handshake: handshake)
        for event: SessionEvent in [.opened, .authenticated(.accepted(welcome: [:])), .message(start), .subscribed(1)] {
            _ = session.handle(event)
        }
        expect(
            session,
            to: [
                Step(.next(1, Self.event("{}", "c1")), #"{"id":"a","type":"data","payload":{}}"#),
                Step(
                    .overflowed(lastCursors: [1: "c1"]),
                    #"{"id":"a","type":"error","payload":{"errors":\#(errors)}}"#,
                    Self.slow
                ),
            ]
        )
    }

    @Test("an event stream ends with the last cursor in an error, and is not called complete")
    func overflowOfEventStream() {
        let request = GraphQLRequest(query: "s")
        let errors = #"[{"message":"\#(Self.tooMuch)","extensions":{"code":"UNAVAILABLE","cursor":"c1"}}]"#
        expect(
            EventStreamSession(.operation(request), limits: .init()),
            to: [
                Step(.opened, "start 1 s", "keepAlive 15000"),
                Step(.next(1, Self.event("{}", "c1")), "event: next\nid: c1\ndata: {}\n\n"),
                Step(.overflowed(lastCursors: [1: "c1"]), "event: next\ndata: {\"errors\":\(errors)}\n\n", Self.slow),
                Step(.ended(1, .completed)),
            ]
        )
    }

    @Test("a connection that has lived its time is closed with 1001 on every transport")
    func lifetimes() {
        common([Step(.lifetimeEnded, Self.lifetime)])
        let handshake = AppSyncHandshake.credentials(Credentials(authorization: "t"))
        expect(AppSyncSession(limits: .init(), handshake: handshake), to: [Step(.lifetimeEnded, Self.lifetime)])
        let request = GraphQLRequest(query: "s")
        expect(EventStreamSession(.operation(request), limits: .init()), to: [Step(.lifetimeEnded, Self.lifetime)])
    }

    @Test("a ping with credentials is answered by a pong that says whether they count")
    func renewal() {
        let ping = #"{"type":"ping","payload":{"authorization":"Bearer n"}}"#
        common([
            Step(.message(ping), "reauthenticate n -"),
            Step(
                .message(ping),
                #"{"type":"pong","payload":{"authenticated":false,"message":"Other credentials are being checked."}}"#
            ),
            Step(
                .reauthenticated(.accepted(expiresAt: 7)),
                #"{"type":"pong","payload":{"authenticated":true,"expiresAt":7}}"#
            ),
            Step(.message(#"{"type":"ping","payload":{"x-api-key":"k"}}"#), "reauthenticate - k"),
            Step(
                .reauthenticated(.refused(message: "no")),
                #"{"type":"pong","payload":{"authenticated":false,"message":"no"}}"#
            ),
            Step(.message(ping), "reauthenticate n -"),
            Step(
                .reauthenticated(.accepted(expiresAt: nil)),
                #"{"type":"pong","payload":{"authenticated":true,"expiresAt":null}}"#
            ),
            Step(.message(ping), "reauthenticate n -"),
            Step(.reauthenticated(.otherUser), "close 4403 Forbidden: the credentials are another user's"),
        ])
    }

    @Test("newer credentials need a connection that has some, and a string")
    func renewalTooEarly() {
        let ping = #"{"type":"ping","payload":{"authorization":"n"}}"#
        let session = TransportWSSession(limits: .init(), upgradeCredentials: .init())
        expect(session, to: [Step(.opened, "timer 10000"), Step(.message(ping), "close 4401 Unauthorized")])
        common([
            Step(
                .message(#"{"type":"ping","payload":{"authorization":7}}"#),
                "close 4400 Invalid message: \"payload.authorization\" must be a string"
            )
        ])
    }
}
