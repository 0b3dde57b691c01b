import GraphQLTransport
import Testing

@Suite("GraphQL over server-sent events")
struct EventStreamSessionTests {
    private static let complete = "event: complete\ndata:\n\n"

    private func check(
        _ steps: [Step],
        content: EventStreamSession.Content = .operation(GraphQLRequest(query: "q")),
        lastEventID: String? = nil,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let session = EventStreamSession(content, lastEventID: lastEventID, limits: .init())
        expect(session, to: steps, sourceLocation: sourceLocation)
    }

    private static let opened = Step(.opened, "start 1 q", "keepAlive 15000")

    @Test("a subscription is events, then complete")
    func subscription() {
        check([
            Self.opened, Step(.subscribed(1), ": live\n\n"),
            Step(.next(1, .init(body: Array(#"{"data":1}"#.utf8))), "event: next\ndata: {\"data\":1}\n\n"),
            Step(
                .next(1, .init(body: Array("{}".utf8), cursor: "c-1")),
                "event: next\nid: c-1\ndata: {}\n\n"
            ),
            Step(.timer(.keepAlive), ":\n\n", "keepAlive 15000"),
            Step(.ended(1, .completed), Self.complete, "close 1000 "),
            Step(.next(1, .init(body: Array("{}".utf8)))), Step(.timer(.keepAlive)), Step(.shutdown),
        ])
    }

    @Test("a comment says when stored messages have come, not before the stream is live")
    func caughtUp() {
        let body = SharedResponse(body: Array("{}".utf8))
        check([
            Self.opened, Step(.subscribed(1), ": live\n\n"), Step(.next(1, body), "event: next\ndata: {}\n\n"),
            Step(.caughtUp(1), ": caught up\n\n"),
        ])
        check([Self.opened, Step(.caughtUp(1)), Step(.subscribed(1), ": live\n\n: caught up\n\n")])
    }

    @Test("a query is one event and complete, and so is what cannot run")
    func replies() {
        let reply = GraphQLReply(kind: .requestError, body: Array(#"{"errors":[]}"#.utf8))
        let event = "event: next\ndata: {\"errors\":[]}\n\n"
        check([Self.opened, Step(.replied(1, reply), event, Self.complete, "close 1000 ")])
        check([Step(.opened, event, Self.complete, "close 1000 ")], content: .reply(reply))
    }

    @Test("errors that end the stream are its last event")
    func errors() {
        let errors = Array(#"[{"message":"no"}]"#.utf8)
        let event = "event: next\ndata: {\"errors\":[{\"message\":\"no\"}]}\n\n"
        check([Self.opened, Step(.refused(1, errors: errors), event, Self.complete, "close 1000 ")])
        check([Self.opened, Step(.ended(1, .failed(errors: errors)), event, Self.complete, "close 1000 ")])
        let expired = #"{"errors":[{"message":"Token has expired.","extensions":{"code":"UNAUTHENTICATED"}}]}"#
        for end in [SessionEvent.tokenEnded, .ended(1, .unauthorized)] {
            check([Self.opened, Step(end, "event: next\ndata: \(expired)\n\n", Self.complete, "close 1000 ")])
        }
    }

    @Test("a server that stops leaves the stream unfinished, so that the client comes again")
    func shutdown() {
        check([Self.opened, Step(.shutdown, "close 1001 The server is stopping")])
        check([Self.opened, Step(.ended(1, .shuttingDown), "close 1001 The server is stopping")])
    }

    @Test("the last event's id reaches the service")
    func resume() {
        check([Step(.opened, "start 1 q, after c-7", "keepAlive 15000")], lastEventID: "c-7")
    }

    @Test("no response or cursor can forge a line of the stream")
    func lines() {
        check([
            Self.opened,
            Step(
                .next(1, .init(body: Array("{\n\"a\":\r\n1}".utf8), cursor: "x\nevent: complete")),
                "event: next\ndata: { \"a\":  1}\n\n"
            ),
        ])
    }
}
