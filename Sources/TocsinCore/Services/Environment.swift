import Synchronization

/// What every service rests on.
package struct ServiceEnvironment: Sendable {
    /// Where everything is stored.
    package var store: any Store
    /// The clock of all changes and deadlines.
    package var time: any TimeSource
    /// Where new ids come from.
    package var identifiers: any IdentifierSource
    /// What clients may store and ask for.
    ///
    /// Of these the quotas may change while the server runs.
    package var limits: ServiceLimits {
        get { reloadableLimits.value }
        set { reloadableLimits = Reloadable(newValue) }
    }
    /// Where all copies of this environment read `limits`.
    package private(set) var reloadableLimits: Reloadable<ServiceLimits>
    /// How versions, sync and tombstones behave.
    package var models: ModelSettings
    /// Nil: browsers register as they do at FCM alone.
    package var webPush: (any WebPushRegistering)? { reloadableWebPush.value }
    /// Where all copies of this environment read `webPush`.
    package let reloadableWebPush: Reloadable<(any WebPushRegistering)?>
    /// Nil: nobody is told.
    package var webhooks: (any WebhookRaising)?
    /// Is told of each update that was merged, after its commit: nobody else learns of it.
    package var staleMerges: (@Sendable (StaleMerge) -> Void)?
    /// Whether people get pushes only while a token of theirs is good.
    package var pushesRequireSignIn = false
    /// How the groups that a sign-in provider's tokens name are taken.
    package var claimedGroups = ClaimedGroups()
    /// Groups that the settings name: those of a sign-in provider's admins, and those that come in.
    ///
    /// All copies of this environment read them here, and a reload may replace them.
    package let settingsGroups = Reloadable<[String]>([])
    /// Nil: no password is made or checked.
    package var passwords: (any PasswordHashing)?
    /// What slows tries of passwords, for all who check any.
    let signInBrakes = SignInBrakes()
    /// Whether every device is bound to the sign-in that registers it, whatever the app asks for.
    package var bindsDevices = false
    /// Nil: no device is registered with a proof.
    package var registrationProofs: RegistrationProofs?
    /// Who listens to deliveries; nil: all that are made are told of.
    package var deliveryListeners: DeliveryListeners?
    /// Nil: owners may store any amount.
    package var storage: OwnerStorage?
    /// The rules of time zones; UTC's alone until they are set.
    package var zones: any ZoneSource = UTCAlone()
    /// This node in the audit.
    package var nodeName: String?
    /// Whoever runs a command on the data, in the audit: the name of the system's account.
    package var operatorName: String?
    /// What models ask for beyond their schema, by the model's name.
    package var hooks: [String: any ModelHook] = [:]
    /// Makes the texts of tokens; nil: none are made here.
    package var tokenTexts: (any TokenTexts)?
    /// Counts what becomes of devices; all services of a node share one.
    package var metrics = CommitMetrics()
    private let changes = ChangeClock()

    /// An environment of these parts; what is optional is set afterwards.
    package init(
        store: any Store,
        time: any TimeSource,
        identifiers: any IdentifierSource,
        limits: ServiceLimits = ServiceLimits(),
        models: ModelSettings = ModelSettings(),
        webPush: (any WebPushRegistering)? = nil,
        webhooks: (any WebhookRaising)? = nil,
        staleMerges: (@Sendable (StaleMerge) -> Void)? = nil,
        deliveryListeners: DeliveryListeners? = nil,
        storage: OwnerStorage? = nil
    ) {
        self.store = store
        self.time = time
        self.identifiers = identifiers
        reloadableLimits = Reloadable(limits)
        self.models = models
        self.staleMerges = staleMerges
        reloadableWebPush = Reloadable(webPush)
        self.webhooks = webhooks
        self.deliveryListeners = deliveryListeners
        self.storage = storage
    }

    /// A token as devices have it, for a look-up: a browser's subscription in its one
    /// form, others as they are.
    package func canonicalToken(_ token: String) -> String {
        // What is no subscription that could have been registered is looked up
        // as it is, and not found.
        (try? webPush?.canonicalToken(token)) ?? token
    }

    /// Whether anybody is to be told of deliveries that are made.
    ///
    /// It must be asked inside the write, so that a listener from before the write misses nothing.
    var notesDeliveries: Bool { deliveryListeners?.isAnybodyThere ?? true }

    /// The time of a change; to be read inside a write.
    package func changeTime() -> Timestamp { changes.now(time) }
}

/// Limits on what one owner may store (`docs/limits.md`).
package struct ServiceLimits: Sendable, Hashable {
    /// Bytes of UTF-8.
    package var topicNameBytes = 256
    /// Bytes of UTF-8 in a message's title.
    package var titleBytes = 1024
    /// Bytes of UTF-8 in a message's body.
    package var bodyBytes = 256 * 1024
    /// Any other text field.
    package var textBytes = 64 * 1024
    /// Characters of a client's id.
    package var idCharacters = 64
    /// Which ids clients may choose for topics and messages.
    package var clientIDs = ClientIDs.uuid
    /// Bytes of UTF-8 in a message's dedupe key.
    package var keyBytes = 256
    /// All fields of a `@primaryKey` together.
    package var recordKeyBytes = 1024
    /// Bytes of UTF-8 in a device's token.
    package var tokenBytes = 4096
    /// Active devices that one user may have.
    package var devicesPerUser = 100
    /// Good tokens that one user may have.
    package var tokensPerUser = 100
    /// Seconds that a token may live from when it is made.
    package var tokenSeconds = 10.0 * 366 * 86_400
    /// Deleted ones are not counted.
    package var topicsPerOwner = 10_000
    /// Users, groups and others that one topic may be shared with.
    package var grantsPerTopic = 500
    /// Incidents of one topic that may be open; beyond it one counts for all others.
    package var openIncidents = 10_000
    /// Local groups of the server.
    package var groups = 10_000
    /// Members of one local group.
    package var groupMembers = 10_000
    /// Local groups that one user may be a member of.
    package var groupsPerUser = 200
    /// Local groups that one user who is no admin may have made.
    package var groupsPerMaker = 100
    /// Groups of one such user that somebody may be in, so that room is left for those of others.
    package var groupsPerMakerAndUser = 100
    /// Rows of a page when the client names no limit.
    package var defaultPage = 100
    /// Rows of a page at most; a larger limit is cut to this.
    package var maximumPage = 1000
    /// Nesting, comparisons, and characters of a text in a filter.
    package var filterDepth = 5
    /// Comparisons in one filter.
    package var filterParts = 20
    /// Characters of one text in a filter.
    package var filterCharacters = 256
    /// How much a page examines, and a request reads.
    package var examination = ExaminationLimits()
    /// Bytes of a stored record that the condition of one write may search.
    ///
    /// Writes wait for each other; this bounds the wait to some milliseconds.
    package var conditionSearchBytes = 2 * 1024 * 1024

    /// The documented defaults.
    package init() {}
}

/// The time of changes: never earlier than it was before, whatever the system's clock does.
///
/// It is read inside a write, and a node runs one write at a time. So the times of changes are in
/// the order of commits, and every change before a time that a write has read is committed.
package final class ChangeClock: Sendable {
    private let latest = Mutex(Int64.min)

    /// A clock that has told no time yet.
    package init() {}

    /// The time now, or the latest one told when that is later.
    package func now(_ time: any TimeSource) -> Timestamp {
        let now = time.now().milliseconds
        return latest.withLock { latest in
            latest = max(latest, now)
            return Timestamp(milliseconds: latest)
        }
    }
}
