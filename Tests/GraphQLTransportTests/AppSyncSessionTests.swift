import GraphQL
import GraphQLTransport
import JSON
import Testing

@Suite("AppSync real-time, server")
struct AppSyncSessionTests {
    static let initialise = Step(
        .message(#"{"type":"connection_init"}"#),
        #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#,
        "cancel timer",
        #"{"type":"ka"}"#,
        "keepAlive 60000"
    )
    static let opened = Step(.opened, "timer 10000", "authenticate t -")
    static let ready = [opened, Step(.authenticated(.accepted(welcome: [:]))), initialise]

    private func check(
        _ steps: [Step],
        handshake: AppSyncHandshake = .credentials(Credentials(authorization: "t")),
        limits: SocketSessionLimits = .init(),
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        expect(AppSyncSession(limits: limits, handshake: handshake), to: steps, sourceLocation: sourceLocation)
    }

    private static func error(_ id: String, _ type: String, _ message: String) -> String {
        #"{"id":"\#(id)","type":"error","payload":{"errors":[{"errorType":"\#(type)","message":"\#(message)"}]}}"#
    }

    @Test("a subscription goes from start to complete")
    func subscription() {
        check(
            Self.ready + [
                Step(.start("a", "{q}"), "start 1 {q}, subscriptions only"),
                Step(.subscribed(1), #"{"id":"a","type":"start_ack"}"#),
                Step(
                    .next(1, .init(body: Array(#"{"data":1}"#.utf8))),
                    #"{"id":"a","type":"data","payload":{"data":1}}"#
                ),
                Step(.stop("a"), "cancel 1", #"{"id":"a","type":"complete"}"#),
                Step(.next(1, .init(body: Array("{}".utf8)))),
                Step(.stop("a")),
                Step(.start("a", "{q}"), "start 2 {q}, subscriptions only"),
                Step(.ended(2, .completed), #"{"id":"a","type":"complete"}"#),
            ]
        )
    }

    @Test("messages before the credentials are judged wait, and a second introduction is acknowledged again")
    func waiting() {
        let ack = #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#
        check([
            Self.opened, Step(Self.initialise.event), Step(.start("a", "{q}")),
            Step(
                .authenticated(.accepted(welcome: [:])),
                ack,
                "cancel timer",
                #"{"type":"ka"}"#,
                "keepAlive 60000",
                "start 1 {q}, subscriptions only"
            ),
            Step(Self.initialise.event, ack),
            Step(.timer(.keepAlive), #"{"type":"ka"}"#, "keepAlive 60000"),
            Step(.timer(.initialisation)),
        ])
    }

    @Test("whoever starts without an introduction is served too")
    func startAtOnce() {
        check([
            Self.opened, Step(.authenticated(.accepted(welcome: [:]))),
            Step(
                .start("a", "{q}"),
                "cancel timer",
                #"{"type":"ka"}"#,
                "keepAlive 60000",
                "start 1 {q}, subscriptions only"
            ),
        ])
    }

    @Test(
        "a refused connection is told why, then closed a moment later",
        arguments: [
            (.refused(message: "Token has expired."), "UnauthorizedException", "Token has expired.", 401, 4401),
            (.unavailable(message: "Later."), "InternalFailure", "Later.", 503, 1013),
        ] as [(SessionAuthentication, String, String, Int, Int)]
    )
    func refused(outcome: SessionAuthentication, type: String, message: String, code: Int, close: Int) {
        let error = #"{"errorType":"\#(type)","message":"\#(message)","errorCode":\#(code)}"#
        check([
            Self.opened, Step(Self.initialise.event),
            Step(
                .authenticated(outcome),
                #"{"type":"connection_error","payload":{"errors":[\#(error)]}}"#,
                "cancel timer",
                "farewell 2000"
            ),
            Step(.start("a", "q")), Step(.message("nonsense")), Step(.pingFrame([1]), "pong [1]"),
            Step(.timer(.farewell), "close \(close) \(message)"), Step(.shutdown),
        ])
    }

    @Test("a handshake that cannot be read or names no subprotocol is answered on the open socket")
    func handshakes() {
        let malformed =
            #"{"errorType":"UnauthorizedException","message":"You are not authorized to make this call.","errorCode":401}"#
        check(
            [
                Step(
                    .opened,
                    #"{"type":"connection_error","payload":{"errors":[\#(malformed)]}}"#,
                    "cancel timer",
                    "farewell 2000"
                ),
                Step(.timer(.farewell), "close 4401 You are not authorized to make this call."),
            ],
            handshake: .malformed
        )
        let none =
            #"{"errorType":"NoProtocolError","message":"The subprotocol graphql-ws was not offered.","errorCode":400}"#
        check(
            [
                Step(
                    .opened,
                    #"{"type":"connection_error","payload":{"errors":[\#(none)]}}"#,
                    "cancel timer",
                    "farewell 2000"
                ),
                Step(.timer(.farewell), "close 4406 The subprotocol graphql-ws was not offered."),
            ],
            handshake: .noProtocol
        )
    }

    @Test("each subscription may bring credentials of its own, and fails alone when they are bad")
    func ownCredentials() {
        let start = #"""
            {"id":"a","type":"start","payload":{"data":"{\"query\":\"q\"}",
            "extensions":{"authorization":{"host":"x","AUTHORIZATION":"Bearer u","x-API-key":null}}}}
            """#
        check(
            Self.ready + [
                Step(.message(start), "start 1 q, as u -, subscriptions only"),
                Step(
                    .denied(1, .refused(message: "Token has expired.")),
                    Self.error("a", "UnauthorizedException", "Token has expired.")
                ),
                Step(.message(start), "start 2 q, as u -, subscriptions only"),
                Step(.denied(2, .unavailable(message: "Later.")), Self.error("a", "InternalFailure", "Later.")),
                Step(.start("b", "q"), "start 3 q, subscriptions only"),
                Step(.message(start), "start 4 q, as u -, subscriptions only"),
                Step(.tokenEnded, "cancel 3", Self.error("b", "UnauthorizedException", "Token has expired.")),
                Step(.start("c", "q"), Self.error("c", "UnauthorizedException", "Token has expired.")),
                Step(.next(4, .init(body: [0x31])), #"{"id":"a","type":"data","payload":1}"#),
                Step(
                    .ended(4, .unauthorized),
                    Self.error("a", "UnauthorizedException", "Token has expired."),
                    "close 4401 The token has expired"
                ),
            ]
        )
        check(Self.ready + [Step(.tokenEnded, "close 4401 The token has expired")])
    }

    @Test("access that ends under one subscription by the connection's credentials ends all these and the connection")
    func accessEnded() {
        check(
            Self.ready + [
                Step(.start("a", "q"), "start 1 q, subscriptions only"),
                Step(.start("b", "q"), "start 2 q, subscriptions only"),
                Step(
                    .ended(1, .unauthorized),
                    "cancel 1",
                    Self.error("a", "UnauthorizedException", "Token has expired."),
                    "cancel 2",
                    Self.error("b", "UnauthorizedException", "Token has expired."),
                    "close 4401 The token has expired"
                ),
                Step(.ended(2, .unauthorized)),
            ]
        )
    }

    @Test("errors keep their type, or get the one that follows from their code")
    func errorTypes() {
        let errors = [
            (#"{"message":"m","extensions":{"code":"UNAUTHORIZED"}}"#, "Unauthorized"),
            (#"{"message":"m","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}"#, "BadRequestException"),
            (#"{"message":"m","extensions":{"code":"BAD_USER_INPUT"}}"#, "BadRequestException"),
            (#"{"message":"m","extensions":{"code":"LIMIT"}}"#, "LimitExceededError"),
            (#"{"message":"m","extensions":{"code":"INTERNAL"}}"#, "InternalFailure"),
            (#"{"message":"m"}"#, "BadRequestException"),
            (#"{"message":"m","errorType":"OperationDisabled","locations":[]}"#, "OperationDisabled"),
        ]
        for (error, type) in errors {
            let reply = GraphQLReply(kind: .requestError, body: Array("{\"errors\":[\(error)]}".utf8))
            check(
                Self.ready + [
                    Step(.start("a", "q"), "start 1 q, subscriptions only"),
                    Step(.refused(1, errors: Array("[\(error)]".utf8)), Self.error("a", type, "m")),
                    Step(.start("a", "q"), "start 2 q, subscriptions only"),
                    Step(.replied(2, reply), Self.error("a", type, "m")),
                    Step(.start("a", "q"), "start 3 q, subscriptions only"),
                    Step(.ended(3, .failed(errors: Array("[\(error)]".utf8))), Self.error("a", type, "m")),
                ]
            )
        }
        let broken = Self.error("a", "InternalFailure", "The subscription could not be served.")
        check(
            Self.ready + [
                Step(.start("a", "q"), "start 1 q, subscriptions only"), Step(.refused(1, errors: [0x7B]), broken),
            ]
        )
    }

    @Test(
        "what is not the protocol's is refused by itself, with the id where there is one",
        arguments: [
            (#"{"type":"hello","id":"x"}"#, "x", "hello not supported through the realtime channel"),
            (#"{"type":"subscribe"}"#, "", "subscribe not supported through the realtime channel"),
            ("{}", "", "unknown not supported through the realtime channel"),
            (#"{"type":"data","id":"x"}"#, "x", "data not supported through the realtime channel"),
            (#"{"type":"start","id":""}"#, "", #"\"id\" must be a string of 1 to 256 bytes"#),
            (#"{"type":"start","id":7}"#, "", #"\"id\" must be a string of 1 to 256 bytes"#),
            (
                #"{"type":"start","id":"x","payload":{"data":{}}}"#, "x",
                #"\"payload.data\" must be a string with the request as JSON"#
            ),
            (
                #"{"type":"start","id":"x"}"#, "x",
                #"\"payload.data\" must be a string with the request as JSON"#
            ),
            (
                #"{"type":"start","id":"x","payload":{"data":"{\"query\":\"q\"}","extensions":{"authorization":1}}}"#,
                "x", #"\"payload.extensions.authorization\" must be an object of strings"#
            ),
            (
                #"{"type":"start","id":"x","payload":{"data":"{}"}}"#, "x",
                #"The request has no \"query\". Send the document's text as a string."#
            ),
        ]
    )
    func unsupported(message: String, id: String, reason: String) {
        check(
            [
                Self.opened, Step(.authenticated(.accepted(welcome: [:]))), Self.initialise,
                Step(.message(message), Self.error(id, "UnsupportedOperation", reason)),
                Step(.start("z", "q"), "start 1 q, subscriptions only"),
            ]
        )
    }

    @Test("ids are used once at a time, slots are counted, queries go elsewhere")
    func slots() {
        let again = "A subscription of this id runs already; give each its own id."
        let query = "A query is not supported through the realtime channel; send it with POST."
        check(
            Self.ready + [
                Step(.start("a", "q"), "start 1 q, subscriptions only"),
                Step(.start("a", "q"), Self.error("a", "BadRequestException", again)),
                Step(
                    .start("b", "q"),
                    Self.error("b", "MaxSubscriptionsReachedError", "This connection runs 1 subscriptions already.")
                ),
                Step(.subscribed(1), #"{"id":"a","type":"start_ack"}"#),
                Step(.ended(1, .completed), #"{"id":"a","type":"complete"}"#),
                Step(.start("b", "q"), "start 2 q, subscriptions only"),
                Step(.unsupported(2, .query), Self.error("b", "UnsupportedOperation", query)),
            ],
            limits: SocketSessionLimits(maximumOperations: 1)
        )
    }

    @Test("a pong waits for the subscriptions asked for before its ping")
    func pongs() {
        check(
            Self.ready + [
                Step(.pingFrame([0]), "pong [0]"),
                Step(.start("a", "q"), "start 1 q, subscriptions only"), Step(.pingFrame([1])),
                Step(.subscribed(1), #"{"id":"a","type":"start_ack"}"#, "pong [1]"),
            ]
        )
    }

    @Test("the connection ends for its own reasons")
    func ends() {
        check([Self.opened, Step(.timer(.initialisation), "close 4408 Connection initialisation timeout")])
        check([Self.opened, Step(Self.initialise.event), Step(.timer(.initialisation))])
        let large = #"{"type":"stop","id":"\#(String(repeating: "x", count: 40_000))"}"#
        check([
            Self.opened, Step(.message(large)),
            Step(.message(large), "close 4400 Too many messages before the acknowledgement"),
        ])
        check(Self.ready + [Step(.shutdown, "close 1001 The server is stopping"), Step(.shutdown)])
        check(Self.ready + [Step(.binary([1]), "close 1003 Binary messages are not served; send text")])
        check(Self.ready + [Step(.message("["), "close 4400 Invalid message: it must be a JSON object")])
        check(
            [Self.opened, Step(.start("a", "q")), Step(.start("b", "q"))]
                + [Step(.start("c", "q"), "close 4400 Too many messages before the acknowledgement")],
            limits: SocketSessionLimits(maximumOperations: 1)
        )
    }
}

extension SessionEvent {
    static func start(_ id: String, _ query: String) -> SessionEvent {
        .message(#"{"type":"start","id":"\#(id)","payload":{"data":"{\"query\":\"\#(query)\"}"}}"#)
    }

    static func stop(_ id: String) -> SessionEvent { .message(#"{"type":"stop","id":"\#(id)"}"#) }
}
