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
    let reload: @Sendable () async -> ReloadOutcome

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        let outcome = await reload()
        guard outcome.result == .applied else {
            return AdminAnswer.error(.unprocessableContent, .badUserInput, outcome.problems.joined(separator: "\n"))
        }
        return AdminAnswer.json(outcome.json)
    }
}

/// `POST /admin/log-level`: `{"level": "debug", "for": "10m", "only": "push"}`.
struct LogLevelRoute: AdminRoute {
    let method = HTTPRequest.Method.post
    let path = "/admin/log-level"
    let access = AdminAccess.operators
    let control: LogControl

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        guard let members = request.adminMembers(["level", "for", "only"]),
            let level = members["level"]?.stringValue
        else {
            let text = "Send {\"level\": \"debug\"}, with \"for\" and \"only\" as you like, and nothing else."
            return AdminAnswer.error(.badRequest, .badUserInput, text)
        }
        do throws(LogOrderProblem) {
            let (time, label) = (members["for"]?.stringValue, members["only"]?.stringValue)
            try control.setLevel(named: level, for: time, only: label)
        } catch {
            return AdminAnswer.error(.badRequest, .badUserInput, error.description)
        }
        return AdminAnswer.json(["level": .string(level)])
    }
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
        let asked = request.adminMembers(["seconds"]).map { $0["seconds"] ?? .null }
        let seconds: Double? =
            switch asked {
            case .null?: self.seconds
            case .int(let number)?: Double(number)
            case .double(let number)?: number
            default: nil
            }
        guard let seconds, (0...600).contains(seconds) else {
            let text = "Send {\"seconds\": N} with a number from 0 to 600, or nothing."
            return AdminAnswer.error(.badRequest, .badUserInput, text)
        }
        logger.notice(
            "a stop was asked for over the admin listener",
            metadata: ["event": "stop_asked_for", "seconds": .stringConvertible(seconds)]
        )
        stop(seconds)
        return AdminAnswer.json(["draining": true, "seconds": .double(seconds)], status: .accepted)
    }
}
