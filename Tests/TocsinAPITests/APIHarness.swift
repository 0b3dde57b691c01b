import GraphQL
import GraphQLTransport
import JSON
import Synchronization
import TestDatabases
import Testing
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinStore

/// A whole API over a real database, without sockets: the outermost face is `TocsinGraphQL`.
final class APIHarness: Sendable {
    let service: TocsinGraphQL
    let schema: APISchema
    let feed: LiveFeed
    let store: SQLStore
    let hub = EventHub()
    let revoked = RevocationList()
    let time = SteppingTime()
    let environment: ServiceEnvironment
    let services: Services
    /// Where people sign in; nil where they do not.
    let signInDesk: SignInDesk?
    let merges: MergeLog
    let refusals = RefusalLog()
    private let feeding = Mutex<Task<Void, Never>?>(nil)
    private let measuring = Mutex<Task<Void, Never>?>(nil)

    init(
        model: String? = nil,
        settings: ModelSettings = ModelSettings(),
        database: (any SQLDatabase)? = nil,
        identifiers: any IdentifierSource = CountingIdentifiers(),
        clientIDs: ClientIDs = .any,
        rate: (perSecond: Double, burst: Int) = (0, 1),
        storageBytes: Int = 0,
        proofs: RegistrationProofs.Mode? = nil,
        limits: ServiceLimits = ServiceLimits(),
        validationLimits: ValidationLimits = .standard,
        maximumResponseBytes: Int = 1 << 24,
        unsorted: LiveFeed.CommitBound? = nil,
        waiting: LiveBacklog.Bound = LiveBacklog.Bound(),
        judging: LiveJudging.Bound = LiveJudging.Bound(),
        restTime: Duration = .milliseconds(1),
        book: GrantBook = GrantBook(),
        passwords: any PasswordHashing = PasswordGate(),
        signsIn: Bool = false,
        hooks: [any ModelHook] = [],
        calls: (any OutgoingHTTP)? = nil,
        documents: (ResponseExecutor) -> RequestDocuments = { _ in .freeTexts }
    ) async throws {
        schema = try ReadSchemas.schema(of: model)
        merges = MergeLog()
        store = try await SQLStore.open(
            try database ?? AnyDatabase.make(),
            at: time.now(),
            commitObserver: hub.publish
        )
        let listeners = DeliveryListeners()
        var limits = limits
        limits.clientIDs = clientIDs
        var environment = ServiceEnvironment(
            store: store,
            time: time,
            identifiers: identifiers,
            limits: limits,
            models: settings,
            staleMerges: { [merges] merge in merges.add(merge) },
            deliveryListeners: listeners,
            storage: OwnerStorage(bytes: storageBytes, time: time)
        )
        environment.zones = TestZones()
        environment.tokenTexts = LocalTokens(try ServerKey(secret: [UInt8](repeating: 7, count: 32)))
        environment.passwords = passwords
        environment.registrationProofs = proofs.map { [refusals] mode in
            RegistrationProofs(
                mode: mode,
                serverName: "push.example.com",
                sealer: PlainSealer(),
                verifier: ProofVerifier(),
                noteRefusal: { refusals.add("\($0): \($1)") }
            )
        }
        if let monitors = schema.monitors {
            let rights = PushRights(topics: schema.topics, messages: schema.messages)
            environment.hooks["Monitor"] = MonitorHook(of: monitors, rights: rights, zones: environment.zones)
        }
        for hook in hooks { environment.hooks[hook.model] = hook }
        self.environment = environment
        if let storage = environment.storage {
            let (store, tables) = (store, schema.models.map(\.table))
            measuring.withLock { $0 = Task { await storage.run(store, tables: tables) { Issue.record($0) } } }
        }
        let sealer = PlainSealer()
        let desk = signsIn ? SignInDesk(environment, passwords) : nil
        signInDesk = desk
        let rights = PushRights(topics: schema.topics, messages: schema.messages)
        let integrations = schema.integrations.map { model in
            IntegrationService(
                environment: environment,
                model: model,
                rights: rights,
                texts: IntegrationKeyText(),
                sealer: sealer,
                notes: IntegrationNotes(keptRequests: 20)
            )
        }
        let buttons = schema.integrations.flatMap { model in
            calls.map { calls in
                ButtonService(
                    environment: environment,
                    rights: rights,
                    integrations: model,
                    sealer: sealer,
                    http: calls,
                    allowsLoopback: false
                )
            }
        }
        services = Services(
            environment: environment,
            schema: schema,
            sealer: sealer,
            categories: CategoryReading.shipped.categories,
            signIn: desk?.service,
            sessions: desk?.sessions,
            integrations: integrations,
            buttons: buttons
        ) { "ref \($0)" }
        let executor = try ResponseExecutor(
            schema: schema,
            sealer: sealer,
            validationLimits: validationLimits,
            maximumResponseBytes: maximumResponseBytes
        )
        feed = LiveFeed(
            executor: executor,
            sealer: sealer,
            hub: hub,
            time: time,
            book: book,
            listeners: listeners,
            unsorted: unsorted ?? LiveFeed.CommitBound(),
            waiting: waiting,
            judging: judging,
            restTime: restTime
        )
        service = TocsinGraphQL(
            executor: executor,
            feed: feed,
            services: services,
            schema: schema,
            authenticator: NameAuthenticator(),
            revoked: revoked,
            documents: documents(executor),
            rates: RequestRates(perSecond: rate.perSecond, burst: rate.burst, time: time)
        )
        // A feed that is to overflow begins when the test says so.
        if unsorted == nil { startFeed() }
    }

    deinit {
        feeding.withLock { $0 }?.cancel()
        measuring.withLock { $0 }?.cancel()
    }

    /// Delivers what was committed, and what will be.
    func startFeed() {
        let feed = feed
        feeding.withLock { $0 = Task { await feed.run() } }
    }

    static func identity(_ name: String) -> Identity { Identity(userID: UserID("sub-\(name)"), username: name) }

    /// The response to a request of the user with this name.
    func run(
        _ query: String,
        _ variables: JSONObject = [:],
        as caller: Identity = APIHarness.identity("alice"),
        style: ResponseStyle = .standard
    ) async throws -> JSONValue {
        let request = GraphQLRequest(query: query, variables: variables)
        let reply = await service.execute(request, caller: caller, style: style)
        return try JSONParser.parse(reply.body)
    }

    /// Creates a topic and answers its id; without a name it is `alerts`, or another one where that
    /// is taken.
    func makeTopic(_ given: String? = nil, as caller: Identity = APIHarness.identity("alice")) async throws -> String {
        let name = given ?? "alerts"
        let response = try await run(
            "mutation($n: String!) { createTopic(input: {name: $n}) { id } }",
            ["n": .string(name)],
            as: caller
        )
        if given == nil, response["errors"]?[0]?["extensions"]?["topicId"] != nil {
            return try await makeTopic("alerts \(time.now().milliseconds)", as: caller)
        }
        return response["data"]?["createTopic"]?["id"]?.stringValue ?? "no topic: \(response.serializedString())"
    }

    /// Makes somebody a member of a topic, whatever they may read.
    func join(_ user: UserID, _ topic: String) async throws {
        let membership = Membership(topicID: TopicID(topic), userID: user, push: true, createdAt: time.now())
        try await store.write { writer throws(StoreError) in try writer.save(membership) }
    }

    /// Creates a message; answers the response's `createMessage`.
    @discardableResult
    func publish(
        _ title: String,
        to topic: String,
        as caller: Identity = APIHarness.identity("alice"),
        with extra: JSONObject = [:]
    ) async throws -> JSONValue {
        var input: JSONObject = ["type": 1, "title": .string(title), "body": "b", "topicId": .string(topic)]
        for member in extra { input[member.key] = member.value }
        let response = try await run(
            "mutation($i: CreateMessageInput!) { createMessage(input: $i) { id number cursor title priority createdAt } }",
            ["i": .object(input)],
            as: caller
        )
        guard let message = response["data"]?["createMessage"], !message.isNull else { return response }
        return message
    }

    /// Subscribes; the sink collects the responses.
    func subscribe(
        _ query: String,
        _ variables: JSONObject = [:],
        as caller: Identity = APIHarness.identity("alice")
    ) async -> (sink: CollectingSink, outcome: SubscribeOutcome) {
        await subscribe(GraphQLRequest(query: query, variables: variables), as: caller)
    }

    /// Subscribes with a sink of one's own.
    func subscribe(
        _ query: String,
        as caller: Identity = APIHarness.identity("alice"),
        sink: any ResponseSink
    ) async -> SubscribeOutcome {
        await service.subscribe(GraphQLRequest(query: query), caller: caller, sink: sink)
    }

    /// Subscribes with a whole request, as a client that may have seen an event before.
    func subscribe(
        _ request: GraphQLRequest,
        as caller: Identity = APIHarness.identity("alice"),
        lastEventID: String? = nil,
        into sink: CollectingSink = CollectingSink()
    ) async -> (sink: CollectingSink, outcome: SubscribeOutcome) {
        let options = SubscribeOptions(resumeAfter: lastEventID)
        return (sink, await service.subscribe(request, caller: caller, options: options, sink: sink))
    }
}

/// Collects the responses of a subscription; reading waits for them.
final class CollectingSink: ResponseSink, Sendable {
    private let stream: AsyncStream<SharedResponse>
    private let continuation: AsyncStream<SharedResponse>.Continuation
    let endings = Mutex([StreamEnd]())
    private let gate: AsyncStream<Void>
    private let permits: AsyncStream<Void>.Continuation
    private let hasHadTurn = Atomic(false)

    /// One that is closed lets a replay have its first turn, and go on only when the test says so.
    init(isClosed: Bool = false) {
        (stream, continuation) = AsyncStream.makeStream()
        (gate, permits) = AsyncStream.makeStream()
        if !isClosed { permits.finish() }
    }

    func turn(_ body: () async -> Bool) async -> Bool {
        if hasHadTurn.exchange(true, ordering: .relaxed) { for await _ in gate { break } }
        return await body()
    }

    /// Lets whoever waits for room go on, once or from now on.
    func makeRoom(forever: Bool = true) {
        permits.yield()
        if forever { permits.finish() }
    }

    /// The errors with which the stream ended.
    func failure() throws -> JSONValue? {
        guard case .failed(let errors)? = endings.withLock({ $0.first }) else { return nil }
        return try JSONParser.parse(errors)[0]
    }

    func next(_ response: SharedResponse) { continuation.yield(response) }

    func end(_ reason: StreamEnd) {
        endings.withLock { $0.append(reason) }
        continuation.finish()
    }

    /// The next `count` responses; fewer when the stream ends before.
    func take(_ count: Int) async throws -> [JSONValue] {
        try await takeResponses(count).map { try JSONParser.parse($0.body) }
    }

    /// The next `count` responses with their cursors; fewer when the stream ends before.
    func takeResponses(_ count: Int) async -> [SharedResponse] {
        var taken: [SharedResponse] = []
        if count == 0 { return [] }
        for await response in stream {
            taken.append(response)
            if taken.count == count { break }
        }
        return taken
    }
}

/// Keeps the merges that the services tell of.
final class MergeLog: Sendable {
    private let merges = Mutex([StaleMerge]())

    var all: [StaleMerge] { merges.withLock { $0 } }

    func add(_ merge: StaleMerge) { merges.withLock { $0.append(merge) } }
}

/// Keeps why proofs were refused.
final class RefusalLog: Sendable {
    private let lines = Mutex([String]())

    var all: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Each call is a millisecond later.
final class SteppingTime: TimeSource, Sendable {
    private let milliseconds = Atomic<Int64>(1_782_907_200_000)

    func now() -> Timestamp { Timestamp(milliseconds: milliseconds.add(1, ordering: .relaxed).newValue) }

    func sleep(until moment: Timestamp) async throws {}

    func advance(seconds: Double) { milliseconds.add(Int64(seconds * 1000), ordering: .relaxed) }
}

/// Ids that count up.
final class CountingIdentifiers: IdentifierSource, Sendable {
    private let count = Atomic<Int>(0)
    private let prefix: String

    /// Nodes of one database must not make the same ids.
    init(prefix: String = "id") { self.prefix = prefix }

    func makeID() -> String {
        let text = String(count.add(1, ordering: .relaxed).newValue)
        return prefix + "-" + String(repeating: "0", count: max(0, 6 - text.count)) + text
    }

    func randomUnit() -> Double { 0.5 }
}

/// Berlin's clocks and UTC's.
struct TestZones: ZoneSource {
    func zone(named name: String) -> ZoneRules? {
        switch name {
        case "UTC": .utc
        case "Europe/Berlin": ZoneRules(tzif: Self.file("CET-1CEST,M3.5.0,M10.5.0/3"))
        default: nil
        }
    }

    /// A zone's file that says only what follows from 1970 on.
    private static func file(_ tail: String) -> [UInt8] {
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 19) + [1, 0, 0, 0, 4]
        let whole = header + [UInt8](repeating: 0, count: 6) + Array("UTC\0".utf8)
        return whole + whole + Array("\n\(tail)\n".utf8)
    }
}

/// A seal that any change breaks: the scope's and text's hash stand beside the bytes.
struct PlainSealer: Sealer {
    func seal(_ bytes: [UInt8], scope: String) -> String {
        bytes.map { String($0, radix: 16) }.joined(separator: ".") + "~" + mark(bytes, scope)
    }

    func open(_ text: String, scope: String) -> [UInt8]? {
        let parts = text.split(separator: "~", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let bytes = parts[0].split(separator: ".").compactMap { UInt8($0, radix: 16) }
        return mark(bytes, scope) == parts[1] ? bytes : nil
    }

    func sign(_ bytes: [UInt8], scope: String) -> String { seal(bytes, scope: scope) }

    func verified(_ text: String, scope: String) -> [UInt8]? { open(text, scope: scope) }

    private func mark(_ bytes: [UInt8], _ scope: String) -> String {
        let hash = (bytes + Array(scope.utf8)).reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return String(hash, radix: 16)
    }
}

/// The token is the user's name.
struct NameAuthenticator: Authenticator {
    /// The token that nobody can look up just now.
    static let away = "(away)"
    /// The token of a client that goes while its token is looked up.
    static let leaving = "(leaving)"

    func authenticate(token: String, from address: String?) async -> AuthenticationResult {
        if token == Self.leaving { withUnsafeCurrentTask { $0?.cancel() } }
        if [Self.away, Self.leaving].contains(token) { return .unavailable(reason: "The server is stopping.") }
        return token.isEmpty ? .refused(.malformed) : .identity(APIHarness.identity(token))
    }
}

/// Each model's schema, read once: that takes a program without optimisation a tenth of a second.
private enum ReadSchemas {
    private static let all = Mutex<[String: APISchema]>([:])

    static func schema(of model: String?) throws -> APISchema {
        if let known = all.withLock({ $0[model ?? ""] }) { return known }
        let schema = try APISchema(modelText: model)
        all.withLock { $0[model ?? ""] = schema }
        return schema
    }
}
