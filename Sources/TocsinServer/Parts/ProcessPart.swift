import Logging
import TocsinAuth
import TocsinCore
import TocsinStore

/// What all other parts rest on: this process's clock, ids, log and key, and its ways to the data
/// and out.
struct ProcessPart: Sendable {
    let settings: Settings
    /// nil where the database is this node's alone.
    let node: NodeIdentity?
    let time: any TimeSource
    let identifiers: SystemIdentifiers
    let logger: Logger
    let logThreshold: LogThreshold
    let data: DataAccess
    let serverKey: ServerKey
    /// For page tokens and cursors.
    let sealer: KeySealer
    /// Makes ordinary outgoing calls.
    let http: CurlClient

    /// Begins the log and reads or makes the server's key; nothing of the data is opened.
    init(_ settings: Settings, log: LogOutput) throws(StartError) {
        self.settings = settings
        let ownTime = SystemTime()
        node = NodeIdentity(settings, database: DataAccess(settings).database, time: ownTime)
        let time: any TimeSource = node?.time ?? ownTime
        self.time = time
        identifiers = SystemIdentifiers(time: time)
        let threshold = LogThreshold(settings.server.level)
        logThreshold = threshold
        let logger = Logger(label: "tocsin") { _ in JSONLogHandler(threshold: threshold, time: time, output: log) }
        self.logger = logger
        data = DataAccess(settings) { ConnectionLog.write($0, to: logger) }
        logger.info(
            "starting",
            metadata: [
                "node": "\(settings.server.nodeName)", "ios_enabled": "\(settings.pushesToApple)",
                "android_enabled": "\(settings.pushesToGoogle)",
            ]
        )
        ProcessLimits.giveBackLargeBlocks()
        if let lack = ProcessLimits.raiseOpenFiles(for: settings.limits.connections) { logger.warning("\(lack)") }
        serverKey = try data.serverKey()
        sealer = KeySealer(serverKey)
        http = CurlClient(caFile: settings.push.caPath)
    }
}

extension Settings.Server {
    /// `logLevel` as the log takes it.
    var level: Logger.Level { Logger.Level(rawValue: logLevel) ?? .info }
}

extension Settings {
    /// Whether there are credentials for Apple's push, of the default app or of another.
    fileprivate var pushesToApple: Bool { apns.isConfigured || apps.contains { !$0.apns.isEmpty } }
    /// Whether there are credentials for Google's push.
    fileprivate var pushesToGoogle: Bool { fcm.isConfigured || apps.contains { $0.fcm != nil } }
}
