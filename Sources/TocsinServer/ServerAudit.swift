import Glibc
import JSON
import Logging
import TocsinAPI
import TocsinAuth
import TocsinCore
import TocsinStore

/// What the server itself writes to the audit: its starts and stops, another model schema, and
/// tokens that were refused.
struct ServerAudit: Sendable {
    let refusedTokens: RefusedTokens
    private let environment: ServiceEnvironment
    private let node: String
    private let schemaDigest: String
    private let jobs: JobMetrics
    private let logger: Logger

    init(_ process: ProcessPart, store: StorePart, schema: APISchema) {
        environment = store.environment
        node = process.settings.server.nodeName
        schemaDigest = schema.modelDigest
        (jobs, logger) = (process.metrics.jobs, process.logger)
        refusedTokens = RefusedTokens(environment: store.environment)
    }

    /// Notes the start, and writes refused tokens again and again until it is cancelled.
    func run() async {
        await begin()
        let (task, logger) = (refusedTokens.task, logger)
        await task.run(by: environment.time, counting: jobs) {
            logger.error("\(task.failure)", metadata: ["event": "refused_tokens_unwritten", "reason": "\($0)"])
        }
    }

    /// Notes the start once the database takes writes.
    private func begin() async {
        let started = event("server.start", ["version": .text(ServerInfo.version), "pid": .int(Int64(getpid()))])
        while !Task.isCancelled {
            do throws(ServiceError) {
                return try await write(started)
            } catch .unavailable {
                // The store has said so.
            } catch {
                logger.error(
                    "the start could not be noted in the audit",
                    metadata: ["event": "audit_start_unwritten", "reason": "\(error)"]
                )
                return
            }
            try? await environment.time.sleep(until: environment.time.now().adding(seconds: 1))
        }
    }

    private func write(_ started: AuditEvent) async throws(ServiceError) {
        let (environment, digest) = (environment, schemaDigest)
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.record(started)
            var last = AuditQuery(limit: 1)
            last.action = "schema.change"
            let wanted: AuditDetail = ["sha256": .text(digest)]
            guard try writer.unlocked.auditEvents(last).first?.detail != wanted.json else { return .success(()) }
            try writer.record(event("schema.change", wanted))
            return .success(())
        }
    }

    /// Notes refused tokens and the stop; to be called before the store is closed.
    func end() async {
        do throws(ServiceError) {
            try await refusedTokens.write(all: true)
            try await record(event("server.stop", [:]))
        } catch {
            logger.warning(
                "the stop could not be noted in the audit",
                metadata: ["event": "audit_stop_unwritten", "reason": "\(error)"]
            )
        }
    }

    /// Notes a reload of the settings, done or refused; what was wrong with them stands in the log.
    func note(_ reload: ReloadOutcome) async {
        let noted = event(
            "settings.reload",
            ["changed": .list(reload.changed), "needRestart": .list(reload.pending)],
            reload.result == .refused ? .refused : .done
        )
        do throws(ServiceError) {
            try await record(noted)
        } catch {
            logger.warning(
                "the reload could not be noted in the audit",
                metadata: ["event": "audit_reload_unwritten", "reason": "\(error)"]
            )
        }
    }

    private func record(_ event: AuditEvent) async throws(ServiceError) {
        try await environment.store.writing { writer throws(StoreError) -> Result<Void, ServiceError> in
            try writer.record(event)
            return .success(())
        }
    }

    private func event(_ action: String, _ detail: AuditDetail, _ outcome: AuditOutcome = .done) -> AuditEvent {
        environment.audit(action: action, by: .server, on: .server(node), detail: detail, outcome: outcome)
    }
}

extension DataAccess {
    /// What notes in the audit that a database was brought to another level.
    static func migrationNote(
        by actor: AuditActor,
        identifiers: any IdentifierSource,
        at now: Timestamp
    ) -> @Sendable (_ from: Int, _ to: Int) -> AuditEvent {
        { from, to in
            AuditEvent(
                id: identifiers.makeID(),
                at: now,
                actor: actor,
                action: "migrate",
                subject: .server("database"),
                detail: [
                    "from": .int(Int64(from)), "to": .int(Int64(to)), "version": .text(ServerInfo.version),
                ]
            )
        }
    }

    /// The system's account that runs this program.
    static var systemAccount: String {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let memory = buffer.baseAddress,
                getpwuid_r(geteuid(), &record, memory, buffer.count, &found) == 0, found != nil,
                let name = record.pw_name
            else { return "\(geteuid())" }
            return String(cString: name)
        }
    }
}

extension APISchema {
    /// A digest of what the model says of its types and fields.
    var modelDigest: String {
        let lines = models.flatMap { model in
            model.fields.map { "\(model.name).\($0.name): \($0.typeName) \($0.isList) \($0.kind) \($0.storage)" }
        }
        return Digest.sha256(Array(lines.sorted().joined(separator: "\n").utf8)).hexadecimal
    }
}
