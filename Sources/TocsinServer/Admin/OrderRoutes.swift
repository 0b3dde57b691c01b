import GraphQLTransport
import HTTPTypes
import JSON
import Logging
import TocsinHTTP

/// `POST /admin/reload`: what SIGHUP does.
struct ReloadRoute: AdminRoute {
    let method = HTTPRequest.Method.post
    let path = "/admin/reload"
    let access = AdminAccess.operators
    /// Answers what was wrong; nothing changed then.
    let reload: @Sendable () async -> [String]

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        let problems = await reload()
        guard problems.isEmpty else {
            return AdminAnswer.error(.unprocessableContent, .badUserInput, problems.joined(separator: "\n"))
        }
        return AdminAnswer.json(["reloaded": true])
    }
}

/// `POST /admin/log-level`: `{"level": "debug", "for": "10m", "only": "push"}`.
struct LogLevelRoute: AdminRoute {
    /// What is asked for.
    struct Wish: Sendable, Hashable {
        var level: Logger.Level
        var seconds: Double?
        var part: String?
    }

    let method = HTTPRequest.Method.post
    let path = "/admin/log-level"
    let access = AdminAccess.operators
    /// Answers why it cannot be done; nil: it is done.
    let change: @Sendable (Wish) async -> String?

    private static let longestSeconds = 86_400.0

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        guard let members = request.adminMembers,
            let level = members["level"]?.stringValue.flatMap({ Logger.Level(rawValue: $0) })
        else { return refused("Send {\"level\": \"…\"} with one of \(levels).") }
        var wish = Wish(level: level)
        if let text = members["for"] {
            guard let seconds = text.stringValue.flatMap(AdminDuration.seconds), seconds <= Self.longestSeconds else {
                return refused("Write for as a length of time of at most a day, such as 90s, 10m or 1h.")
            }
            wish.seconds = seconds
        }
        wish.part = members["only"]?.stringValue
        if let problem = await change(wish) { return refused(problem) }
        return AdminAnswer.json(["level": .string(level.rawValue)])
    }

    private func refused(_ text: String) -> OutgoingResponse { AdminAnswer.error(.badRequest, .badUserInput, text) }
}

/// `POST /admin/drain`: stops the server as SIGTERM does, `{"seconds": 10}` after taking no more
/// part in a balancer.
struct DrainRoute: AdminRoute {
    let method = HTTPRequest.Method.post
    let path = "/admin/drain"
    let access = AdminAccess.operators
    let seconds: Double
    let logger: Logger
    let stop: @Sendable (_ drainSeconds: Double) -> Void

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        let asked = request.adminMembers.map { $0["seconds"] ?? .null }
        let seconds: Double? =
            switch asked {
            case .null?: self.seconds
            case .int(let number)?: Double(number)
            case .double(let number)?: number
            default: nil
            }
        guard let seconds, (0...600).contains(seconds) else {
            return AdminAnswer.error(.badRequest, .badUserInput, "Send {\"seconds\": N} with a number from 0 to 600.")
        }
        logger.notice("a stop was asked for over the admin listener", metadata: ["drain_seconds": "\(seconds)"])
        stop(seconds)
        return AdminAnswer.json(["draining": true, "seconds": .double(seconds)], status: .accepted)
    }
}

/// Lengths of time as settings write them.
enum AdminDuration {
    /// `90s`, `10m`, `1h`, `2d`; nil for anything else.
    static func seconds(_ text: String) -> Double? {
        let units: KeyValuePairs = ["d": 86_400.0, "h": 3600, "m": 60, "s": 1]
        guard let unit = units.first(where: { text.hasSuffix($0.key) })?.value,
            let count = Int(text.dropLast()), count > 0, count <= 1_000_000
        else { return nil }
        return Double(count) * unit
    }
}
