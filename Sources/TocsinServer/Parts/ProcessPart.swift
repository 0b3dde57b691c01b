import Logging
import TocsinAPI
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
    let log: ServerLog
    /// The log of the server as a whole.
    let logger: Logger
    let data: DataAccess
    let serverKey: ServerKey
    /// For page tokens and cursors.
    let sealer: KeySealer
    /// Makes ordinary outgoing calls.
    let http: CurlClient
    let metrics: MetricsPart

    /// Begins the log and reads or makes the server's key; nothing of the data is opened.
    ///
    /// The warnings are of the settings.
    init(_ settings: Settings, log destination: LogDestination, warnings: [String]) throws(StartError) {
        self.settings = settings
        let ownTime = SystemTime()
        node = NodeIdentity(settings, database: DataAccess(settings).database, time: ownTime)
        let time: any TimeSource = node?.time ?? ownTime
        self.time = time
        identifiers = SystemIdentifiers(time: time)
        log = ServerLog(Logger.Level(rawValue: settings.server.logLevel) ?? .info, time: time, to: destination)
        logger = log.logger(.server)
        let storeLogger = log.logger(.store)
        data = DataAccess(settings) { ConnectionLog.write($0, to: storeLogger) }
        for warning in warnings {
            logger.warning("look at a setting", metadata: ["event": "setting_warning", "reason": "\(warning)"])
        }
        logger.info(
            "starting",
            metadata: [
                "event": "starting", "version": "\(ServerInfo.version)",
                "ios_enabled": .stringConvertible(settings.pushesToApple),
                "android_enabled": .stringConvertible(settings.pushesToGoogle),
            ]
        )
        ProcessLimits.giveBackLargeBlocks()
        if let lack = ProcessLimits.raiseOpenFiles(for: settings.limits.connections) {
            logger.warning("\(lack)", metadata: ["event": "open_files_low"])
        }
        serverKey = try data.serverKey()
        sealer = KeySealer(serverKey)
        metrics = MetricsPart(settings, time: time)
        metrics.add(log)
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
