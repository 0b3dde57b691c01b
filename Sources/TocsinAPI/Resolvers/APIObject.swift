package import JSON
import Synchronization
package import TocsinCore

/// What a resolver hands on: the source of the fields below it.
///
/// Records are copied often, so the large cases are indirect: copying a record costs two references
/// and not the size of the largest case.
package enum APIObject: Sendable {
    case root
    case record(Record)
    indirect case page(PageResult)
    indirect case device(Device)
    indirect case membership(Membership)
    indirect case memberPage([Membership], nextToken: String?)
    indirect case delivery(DeliveryService.Entry)
    indirect case deliveryPage([DeliveryService.Entry], nextToken: String?)
    indirect case explanation(DeliveryExplanation)
    indirect case gate(DeliveryExplanation.Gate)
    indirect case summary(DeliverySummary)
    indirect case registration(RegistrationResult)
    indirect case me(Identity)
    case serverInfo
    /// An object inside a record.
    indirect case embedded(JSONObject)
    indirect case category(NotificationCategory)
    indirect case action(NotificationAction)
    indirect case textInput(NotificationAction.TextInput)
    indirect case challenge(ProofChallenge)
    indirect case receipt(DirectPushService.Receipt)
    indirect case readState([ReadMark])
    indirect case readMark(ReadMark)
    indirect case scheduledMessage(ScheduledMessage)
    indirect case settings(UserSettings)
    indirect case hours(WeeklyHours)
    indirect case scheduledMessagePage([ScheduledMessage], nextToken: String?)
    indirect case signedIn(NewSession)
    indirect case session(Session, isCurrent: Bool)
    indirect case identity(SignInIdentity)
    indirect case auditEvent(StoredAuditEvent)
    indirect case auditPage([StoredAuditEvent], nextToken: String?)
    indirect case grant(TopicGrant)
    indirect case grantPage([TopicGrant], nextToken: String?)
    indirect case token(IssuedToken)
    indirect case newToken(TokenService.Made)
    indirect case tokenPage([IssuedToken], nextToken: String?)
    indirect case user(Account)
    indirect case userPage([Account], nextToken: String?)
    indirect case temporaryPassword(Account, String)
    indirect case group(Group)
    indirect case groupPage([Group], nextToken: String?)
    indirect case digest(PersonalDigest)
    indirect case digestPage([PersonalDigest], nextToken: String?)
    indirect case integrationKey(Record, topicName: String, key: String)
    indirect case receivedRequest(ReceivedRequest)
    indirect case receiverPreview(ReceiverPreview)
    indirect case previewEvent(SenderEvent, TopicID?)
    indirect case buttonPress(ButtonPress)
    indirect case messageButton(MessageButton)
    indirect case ping(StoredPing)
    indirect case pingPage([StoredPing], nextToken: String?)
    indirect case alert(StoredAlert)
    indirect case alertPage([StoredAlert], nextToken: String?)
    indirect case entry(IncidentEntry)
    indirect case entryPage([IncidentEntry], nextToken: String?)

    var record: Record? {
        if case .record(let record) = self { record } else { nil }
    }
}

/// A page of records and the token of the next one.
package struct PageResult: Sendable {
    /// The records that the caller may read and asked for.
    package var records: [Record]
    /// Where the next page begins; nil on the last page.
    package var nextToken: String?
    /// When a sync began, in milliseconds since 1970; nil for lists and queries.
    package var startedAt: Int64?
}

/// What registering or unregistering a token answers.
package struct RegistrationResult: Sendable {
    /// Whose devices they are.
    package var userID: UserID
    /// The tokens of all the caller's devices.
    package var tokens: [String]
    /// The device that was registered; nil after unregistering.
    package var device: Device?
}

/// What every resolver may use for one request.
package struct RequestContext: Sendable {
    /// Who asks.
    package let caller: Identity
    /// The services of the server.
    package let services: Services
    let held: HeldRecords

    /// A context of one request, which holds no records yet.
    package init(caller: Identity, services: Services) {
        self.caller = caller
        self.services = services
        held = HeldRecords(services.recordBudget, owner: caller.owner)
    }

    /// Counts bytes of text that were read for the request, until it is over.
    func hold(_ bytes: Int) throws(ServiceError) { try held.add(bytes) }
}

/// The services behind the API, made once.
package final class Services: Sendable {
    /// Records of any model.
    package let models: ModelService
    /// Creates topics.
    package let topics: TopicService
    /// Creates messages.
    package let messages: MessageService
    /// Replays messages.
    package let feeds: FeedService
    /// Registers devices.
    package let devices: DeviceService
    /// Joins and leaves topics.
    package let memberships: MembershipService
    /// Shares topics with others.
    package let sharing: SharingService
    /// Tells what became of pushes.
    package let deliveries: DeliveryService
    /// Pushes to users and devices without a topic of theirs.
    package let directPushes: DirectPushService
    /// How far people have read.
    package let readMarks: ReadMarkService
    /// What people want of their own pushes.
    package let userSettings: UserSettingsService
    /// Local users and service accounts.
    package let people: PeopleService
    /// Local groups.
    package let groups: GroupService
    /// Messages that are made later.
    package let scheduledMessages: ScheduledMessageService
    /// Who changed what.
    package let audit: AuditService
    /// Tokens of local users.
    package let tokens: TokenService
    /// Summaries that people have made for themselves.
    package let digests: DigestService
    /// Integrations and their keys; nil: the schema has none.
    package let integrations: IntegrationService?
    /// Where senders of integrations post.
    package let integrationAddresses: Reloadable<IntegrationAddresses>
    /// Tries out receivers; nil: nobody reads what senders post here.
    package let previews: (any ReceiverPreviewing)?
    /// Presses buttons whose call the server makes; nil: there are none.
    package let buttons: ButtonService?
    /// What senders say is wrong, and who answers.
    package let incidents: IncidentBook
    /// Pings that must come; nil: the schema has no monitors.
    package let monitors: MonitorService?
    /// Signs people in; nil: nobody signs in here.
    package let signIn: SignInService?
    /// What becomes of sessions; nil: there are none.
    package let sessions: SessionService?
    /// People of sign-in providers who are linked to local users.
    package let identities: IdentityService
    /// What the running server tells administrators of itself; nil until it runs.
    package let server = Reloadable<(any ServerReporting)?>(nil)
    /// The categories that apps register, by the categories file.
    package var categories: [NotificationCategory] { reloadableCategories.value }
    /// Where `categories` are read; a reload may replace them.
    package let reloadableCategories: Reloadable<[NotificationCategory]>
    /// Who follows which topic on this node.
    let watchers = TopicWatchers()
    /// Checks of input that no schema can state.
    package let checks: InputChecks
    /// What requests hold in memory.
    let recordBudget: RecordBudget
    /// Seals page tokens and signs cursors.
    package let sealer: any Sealer
    /// Writes an internal failure to the log and answers the id under which it stands there.
    package let report: @Sendable (String) -> String

    /// Makes every service over one environment; `report` writes failures to the log.
    package init(
        environment: ServiceEnvironment,
        schema: APISchema,
        sealer: any Sealer,
        forecast: (any PushForecast)? = nil,
        categories: [NotificationCategory] = [],
        signIn: SignInService? = nil,
        sessions: SessionService? = nil,
        integrations: IntegrationService? = nil,
        integrationAddresses: IntegrationAddresses = IntegrationAddresses(base: "http://127.0.0.1:8080"),
        previews: (any ReceiverPreviewing)? = nil,
        buttons: ButtonService? = nil,
        report: @escaping @Sendable (String) -> String
    ) {
        models = ModelService(environment: environment)
        recordBudget = RecordBudget(bytesOfRequest: environment.limits.examination.totalBytes)
        topics = TopicService(environment: environment, model: schema.topics)
        messages = MessageService(environment: environment, messages: schema.messages, topics: schema.topics)
        feeds = FeedService(environment: environment, messages: schema.messages, topics: schema.topics)
        let rights = PushRights(
            topics: schema.topics,
            messages: schema.messages,
            requiresSignIn: environment.pushesRequireSignIn,
            claimedGroups: environment.claimedGroups
        )
        sharing = SharingService(environment: environment, rights: rights)
        devices = DeviceService(environment: environment, sharing: sharing)
        memberships = MembershipService(environment: environment, rights: rights)
        deliveries = DeliveryService(
            environment: environment,
            messages: schema.messages,
            topics: schema.topics,
            forecast: forecast
        )
        directPushes = DirectPushService(environment: environment, messages: schema.messages, topics: schema.topics)
        readMarks = ReadMarkService(environment: environment, topics: schema.topics)
        userSettings = UserSettingsService(environment: environment)
        audit = AuditService(environment: environment, topics: schema.topics)
        people = PeopleService(environment: environment, refusals: signIn?.refusals)
        identities = IdentityService(environment: environment)
        groups = GroupService(environment: environment, sharing: sharing, models: schema.models)
        digests = DigestService(environment: environment, rights: rights)
        let content = ScheduledContent(schema)
        scheduledMessages = ScheduledMessageService(
            environment: environment,
            messages: messages,
            rights: rights,
            content: { (json: String) throws(ServiceError) -> RecordInput in try content.read(json) }
        )
        incidents = IncidentBook(
            environment: environment,
            messages: messages,
            rights: rights,
            model: schema.incidents,
            scheduled: scheduledMessages
        )
        let (ofIncidents, intake) = (schema.incidents, incidents)
        monitors = schema.monitors.flatMap { model in
            integrations.map { integrations in
                MonitorService(
                    environment: environment,
                    model: model,
                    incidents: ofIncidents,
                    intake: intake,
                    keys: integrations.keys(of: model),
                    integrations: integrations
                )
            }
        }
        tokens = TokenService(environment: environment, topics: schema.topics)
        reloadableCategories = Reloadable(categories)
        (self.signIn, self.sessions) = (signIn, sessions)
        (self.integrations, self.integrationAddresses) = (integrations, Reloadable(integrationAddresses))
        self.previews = previews
        self.buttons = buttons
        checks = InputChecks(limits: environment.limits)
        self.sealer = sealer
        self.report = report
    }
}

/// How many subscriptions of this node follow each topic by its name.
final class TopicWatchers: Sendable {
    private let counts = Mutex<[TopicID: Int]>([:])

    /// How many follow the topic now.
    func count(of topic: TopicID) -> Int { counts.withLock { $0[topic] ?? 0 } }

    func enter(_ topic: TopicID) { counts.withLock { $0[topic, default: 0] += 1 } }

    func leave(_ topic: TopicID) {
        counts.withLock { counts in
            let count = (counts[topic] ?? 0) - 1
            counts[topic] = count > 0 ? count : nil
        }
    }
}
