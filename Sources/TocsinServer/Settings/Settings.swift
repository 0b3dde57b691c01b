import TocsinAuth
package import TocsinCore
package import TocsinHTTP
import TocsinPostgres

/// Every setting of the server.
///
/// A field's value here is the setting's default; `SettingTable` gives it its names.
package struct Settings: Sendable, Hashable {
    /// The server itself: addresses, files, the database.
    package var server = Server()
    /// Tokens of an identity provider.
    package var signIn = SignIn()
    /// The default app's key of Apple's push service.
    package var apns = APNs()
    /// The default app's account at Google's push service.
    package var fcm = FCM()
    /// Push to browsers.
    package var webPush = WebPush()
    /// Apps with credentials of their own, from the settings file; those
    /// above are the default app's.
    package var apps: [App] = []
    /// The outbox.
    package var push = Push()
    /// Who is told of events; from the settings file.
    package var webhooks: [Webhook] = []
    /// Whether webhooks may be at `http://` addresses of this machine, for tests.
    package var webhooksAllowLoopback = false
    /// What the server takes from outside.
    package var limits = Limits()
    /// How long messages are kept.
    package var retention = MessageRetention()
    /// How long rows of the audit are kept, in seconds.
    package var auditKeptSeconds: Double? = 400 * 86_400
    /// How long incidents are kept after their end, in seconds.
    package var incidentsKeptSeconds: Double? = 365 * 86_400
    /// The same for who has no other word.
    package var auditKept: Double { auditKeptSeconds ?? 400 * 86_400 }
    /// How versions are resolved, and how long deleted records are kept.
    package var models = ModelSettings()
    /// When the daily jobs come, in UTC.
    package var daily = Daily()
    /// The listener for those who run the server.
    package var admin = Admin()

    /// The defaults.
    package init() {}

    /// How addresses begin that are sockets in the file system.
    static let socketPrefix = "unix:"

    /// The listener for those who run the server.
    package struct Admin: Sendable, Hashable {
        /// Where it is.
        package var listening = AdminListening.standard
        /// What callers over the network show to be let in.
        package var token: Secret?
    }

    /// When the daily jobs come, in UTC.
    package struct Daily: Sendable, Hashable {
        /// The hour of `task-reminder`.
        package var taskReminderHour = 20
        /// The minute of `task-reminder`.
        package var taskReminderMinute = 0
        /// The hour of `overdue-reminder`.
        package var overdueReminderHour = 9
        /// The hour of the digest of those who have said no time.
        package var digestHour = 11
    }

    /// The server itself.
    package struct Server: Sendable, Hashable {
        /// The address to listen on; `unix:` and a path for a socket in the file system.
        package var host = "127.0.0.1"
        /// The rights of that socket's file.
        package var socketMode = 0o660
        /// What all paths begin with, such as `/tocsin`; empty for nothing.
        package var basePath = ""
        /// The console: `on`, `off`, or the folder whose files are served in place of its own.
        package var console = "on"
        /// The port to listen on; 0 takes a free one.
        package var port = 8080
        /// Where the database and the server key live; made if it is not there.
        package var dataDirectory = "./tocsin-data"
        /// As given; nil: SQLite in the data directory.
        package var database: DatabaseAddress?
        /// Connections that read, each with a thread.
        package var databaseReaders = 3
        /// Whether statements are prepared at a PostgreSQL server; not behind a
        /// pooler in transaction mode.
        package var databasePrepared = true
        /// Tells nodes apart in leases and logs; nil: host name and process.
        package var node: String?
        /// What clients know the server by: a host's name, alike on all nodes; nil: it has none.
        package var publicName: String?
        /// Where browsers find the server: scheme, host and port; nil: on this machine alone.
        package var publicURL: String?
        /// What is fetched each minute while all is well; nil: nothing.
        package var heartbeatURL: Secret?
        /// What wakes the other nodes of a PostgreSQL database.
        package var doorbell = DoorbellAddress.database
        /// A file with the model schema; nil: the one that ships.
        package var schemaPath: String?
        /// Whether owners may share topics.
        package var sharesTopics = true
        /// Whether clients may store documents and name them by their hash
        /// (automatic persisted queries).
        package var persistsQueries = true
        /// A folder of documents, or a manifest of them, known before the first request.
        package var trustedDocumentsPath: String?
        /// What these are for: `off`, `allow` or `only`.
        package var trustedMode = "off"
        /// A folder of time zone data; nil: the system's.
        package var zonesPath: String?
        /// A file with routes of one's own, added to those that ship.
        package var routesPath: String?
        /// A file with receivers of one's own, added to those that ship.
        package var receiversPath: String?
        /// The kinds of integrations whose posts are taken.
        package var receiverShapes = Set(Integration.Kind.allCases)
        /// A file with the categories of notifications; nil: those that ship.
        package var categoriesPath: String?
        /// Where subscriptions of Amazon SNS are confirmed in place of Amazon's address.
        package var snsEndpoint: String?
        /// Whether routes for trying things out are served.
        package var servesDebugRoutes = false
        /// Whether `serve` applies migrations.
        package var migrates = true
        /// PEM file of the server's certificate chain; given with the key or not at all.
        package var tlsCertificatePath: String?
        /// PEM file of the certificate's private key.
        package var tlsKeyPath: String?
        /// In place of the file `server.key`; nodes that share a database share it.
        package var serverKey: Secret?
        /// How much is logged: `trace`, `debug`, `info`, `notice`,
        /// `warning`, `error` or `critical`.
        package var logLevel = "info"
        /// The form of the log's lines: `json`, `text`, `otel`; `auto` for text on a terminal and
        /// JSON elsewhere.
        package var logFormat = "auto"
        /// Which requests have a line in the log.
        package var logRequests = RequestLogPolicy.all
        /// Whether the log has a line for each delivery, at level debug.
        package var logsDeliveries = false
        /// Whether figures are counted and served at `/metrics`.
        package var measures = true
        /// Ids of topics whose messages are counted for each of them.
        package var metricsTopics: [String] = []
        /// Origins whose pages may open sockets and, if any is listed, read answers.
        package var allowedOrigins: [String] = []
        /// Header fields that these pages may send besides those that GraphQL's clients send.
        package var allowedHeaders: [String] = []
        /// Proxies in front of the server, as addresses or networks: not counted themselves, and
        /// believed on where requests came from.
        package var trustedProxies = ["127.0.0.1", "::1"]
        /// How long running requests and pushes may take once the server is
        /// asked to stop, in seconds.
        package var stopSeconds = 10.0
        /// How long the server goes on taking connections once it says that it is not ready, in
        /// seconds.
        package var drainSeconds = 0.0

        /// The socket in the file system that the front listens on; nil: it has an address.
        package var socketPath: String? {
            host.hasPrefix(Settings.socketPrefix) ? String(host.dropFirst(Settings.socketPrefix.count)) : nil
        }
        /// Where the data is kept.
        package var databaseAddress: DatabaseAddress { database ?? .sqlite(path: dataDirectory + "/tocsin.db") }
    }

    /// Sign-in by a provider's tokens (Cognito, Auth0, Keycloak…).
    package struct SignIn: Sendable, Hashable {
        /// The `iss` that tokens must have.
        package var issuer: String?
        /// Any of these must be the `aud`.
        package var audiences: [String] = []
        /// `userpools`: these are the people that `@auth` rules mean; `oidc`: only rules with
        /// `provider: oidc` mean them.
        package var provider = "userpools"
        /// The first of these claims that a token has names the user.
        package var usernameClaims = OwnerClaims.usernameClaims
        /// The https address of the key set (RFC 7517 §5); this or one of the next two gives keys.
        package var jwksURL: String?
        /// A file with the key set.
        package var jwksPath: String?
        /// A shared secret of 32 bytes or more (RFC 7518 §3.2).
        package var hs256Secret: Secret?
        /// How the groups that tokens name are taken.
        package var claimedGroups = ClaimedGroups()
        /// What is done with proofs of who owns a device: `off`, `accept` or `require`.
        package var registrationProof = "off"
        /// The contents of `jwksPath`.
        package var jwks: [UInt8]?
        /// Whether local users sign in by their password.
        package var takesPasswords = true
        /// A session that nobody uses for so long is over.
        package var sessionIdleSeconds: Double? = 7 * 86_400
        /// Used or not, a session is over then.
        package var sessionLifetimeSeconds: Double? = 30 * 86_400
        /// The sign-in provider of variables; its issuer is nil where there is none.
        package var oidc = OIDC()
        /// Sign-in providers of the settings file.
        package var furtherOIDC: [OIDC] = []

        /// All sign-in providers, that of variables first.
        package var allOIDC: [OIDC] { (oidc.issuer == nil ? [] : [oidc]) + furtherOIDC }

        /// The groups that the providers' settings name.
        package var namedGroups: [String] { allOIDC.flatMap { $0.adminGroups + $0.allowedGroups } }
    }

    /// A provider with which people sign in (OpenID Connect).
    package struct OIDC: Sendable, Hashable {
        /// Names the provider in addresses and in its people's ids.
        package var id = "default"
        /// As the provider says it of itself, byte by byte.
        package var issuer: String?
        /// The name under which the provider knows this server.
        package var clientID: String?
        /// nil: a public client.
        package var clientSecret: Secret?
        /// What is asked for.
        package var scopes = ["openid", "profile", "email"]
        /// Sent as `audience` where the provider needs it.
        package var audience: String?
        /// What the button says.
        package var label: String?
        /// Where groups stand in an ID token.
        package var groupsClaim: String?
        /// Whoever is in one of these is an admin.
        package var adminGroups: [String] = []
        /// Only whoever is in one of these comes in; empty: everybody.
        package var allowedGroups: [String] = []
        /// What an ID token must say besides, as `name=value`.
        package var requiredClaims: [String] = []
        /// Who comes in for the first time: everybody (`open`), or who was here before or is linked
        /// (`invited`).
        package var signup = "open"
    }

    /// Apple's push service.
    package struct APNs: Sendable, Hashable {
        /// The key's id at Apple, 10 characters.
        package var keyID: String?
        /// The team's id at Apple, 10 characters.
        package var teamID: String?
        /// The `.p8` key in PEM, given as it is or by a path.
        package var privateKey: Secret?
        /// The app's bundle id, which Apple calls `apns-topic`; nil: every app of the team.
        package var bundleID: String?
        /// Which environment devices are taken to be in that do not say.
        package var isProduction = false
        /// Whether the app may send critical alerts (Apple's entitlement).
        package var mayBeCritical = false
        /// In place of Apple's address, for tests and proxies.
        package var endpoint: String?

        /// Whether pushes can be signed.
        package var isConfigured: Bool { keyID != nil && teamID != nil && privateKey != nil }
    }

    /// Google's push service.
    package struct FCM: Sendable, Hashable {
        /// The Firebase project's id.
        package var projectID: String?
        /// The service account's e-mail address, the `iss` of its assertions (RFC 7523 §3).
        package var clientEmail: String?
        /// The service account's RSA key in PEM.
        package var privateKey: Secret?
        /// `private_key_id` of the key file.
        package var privateKeyID: String?
        /// A service account's key file, which gives what is not given by itself.
        package var credentialsPath: String?
        /// In place of the address that pushes go to, for tests and proxies.
        package var endpoint: String?
        /// In place of the address that gives access tokens.
        package var tokenEndpoint: String?

        /// Whether access tokens can be asked for.
        package var isConfigured: Bool { projectID != nil && clientEmail != nil && privateKey != nil }
    }

    /// Push to browsers.
    package struct WebPush: Sendable, Hashable {
        /// 32 bytes in base64url, or PEM.
        package var privateKey: Secret?
        /// Its public half, for people who want to be sure that it is.
        package var publicKey: String?
        /// Whom a push service may turn to: `mailto:` or `https:`.
        package var subject: String?
        /// If any is given, browsers may only use push services at these hosts and below.
        package var hosts: [String] = []
        /// Whether push services may be at loopback and private addresses, for tests.
        package var allowsPrivateAddresses = false

        /// Whether pushes can be signed.
        package var isConfigured: Bool { privateKey != nil && subject != nil }
    }

    /// An app with credentials of its own.
    package struct App: Sendable, Hashable {
        /// What its devices name when they register.
        package var id: String
        /// Whether devices that name no app are of this one.
        package var isDefault = false
        /// Apple's keys, the one for both environments first.
        package var apns: [AppleKey] = []
        /// Google's credentials; nil: this app sends nothing through Google.
        package var fcm: FCM?

        /// An app without credentials.
        package init(id: String) {
            self.id = id
        }

        /// One key and what it is for.
        package struct AppleKey: Sendable, Hashable {
            /// The key.
            package var settings: APNs
            /// The environments whose devices it serves.
            package var environments: Set<PushEnvironment>
        }
    }

    /// The outbox.
    package struct Push: Sendable, Hashable {
        /// PEM file of certificate authorities trusted for outgoing calls besides the system's.
        package var caPath: String?
        /// Pauses before each retry in seconds, after the last of which a delivery has failed;
        /// empty: the built-in schedule.
        package var retrySeconds: [Double] = []
        /// How long a node holds a delivery without renewing; at least
        /// twice the request time limit.
        package var leaseSeconds = 60.0
        /// When a push that has had no answer is given up.
        package var requestTimeoutSeconds = 20.0
        /// Pushes under way at once on a node.
        package var inFlight = 2000
        /// Pushes a Firebase project may get in a minute, 0 for no quota; a burst grows
        /// to that within a minute.
        package var fcmPerMinute = 600_000
        /// After this long a delivery that could not be sent is given up.
        package var lifetimeSeconds = 21_600.0
        /// Attempts of one delivery.
        package var maximumAttempts = 50
        /// Devices that were not heard of for so many days are skipped; 0: none are.
        package var staleDays = 0
        /// Whether people get pushes only while a token of theirs is good.
        package var requiresSignIn = false
        /// Whether every device is bound to the token that registers it.
        package var bindsDevices = false
        /// Days for which settled deliveries are kept, 1 or more.
        package var keptDays = 7
        /// HTTP/2 connections to one provider.
        package var connections = 2
        /// The title that phones show of an encrypted message.
        package var placeholderTitle = "New message"
        /// The text that phones show of an encrypted message.
        package var placeholderBody = "Open the app to read it."
    }
}

/// Text that must not be seen: its description and mirror show nothing of it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself, to be handed to what needs it and to nothing else.
    package let contents: String

    /// Hides a text.
    package init(_ contents: String) {
        self.contents = contents
    }

    /// Always the same.
    package var description: String { Secret.mask }
    /// Always the same.
    package var debugDescription: String { Secret.mask }
    /// Empty.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// What stands in the place of a secret wherever settings are shown.
    package static let mask = "(secret)"
}

/// Where the data is kept.
package enum DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    /// A file, or `:memory:`.
    case sqlite(path: String)
    /// A connection URL as libpq reads it; may hold a password.
    case postgres(url: Secret)

    /// The text of the setting, without what must not be seen.
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:" + path
        case .postgres(let url): Self.masked(url.contents)
        }
    }

    /// Reads `sqlite:PATH` or `postgres://…`; the failure says what to write instead, without
    /// repeating a text that may hold a password.
    static func parsed(_ text: String) -> Result<DatabaseAddress, SettingProblem> {
        if text.hasPrefix("sqlite:") {
            var path = text.dropFirst("sqlite:".count)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
            guard !path.isEmpty, !path.utf8.contains(0) else { return .failure("write sqlite:PATH, with a path") }
            return .success(.sqlite(path: String(path)))
        }
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            if let problem = PostgresDatabase.problem(inURL: text) {
                return .failure(
                    """
                    \(problem): write postgres://USER:PASSWORD@HOST:PORT/DATABASE as libpq reads it, special characters as %XX
                    """
                )
            }
            return .success(.postgres(url: Secret(text)))
        }
        return .failure("write sqlite:PATH or postgres://…, for example sqlite:/var/lib/tocsin/tocsin.db")
    }

    /// Scheme, user, hosts and database: passwords stand before the @, or among what
    /// follows the question mark.
    private static func masked(_ url: String) -> String {
        // A password may hold a question mark itself, so the last @ is looked for first.
        guard let slashes = url.firstRange(of: "://"), let sign = url.lastIndex(of: "@"), sign > slashes.upperBound
        else { return String(url.prefix { $0 != "?" }) }
        let user = url[slashes.upperBound..<sign].prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        return String(url[..<slashes.upperBound] + user + url[sign...].prefix { $0 != "?" })
    }
}
