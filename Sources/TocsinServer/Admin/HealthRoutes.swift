import HTTPTypes
import JSON
import TocsinHTTP

/// `/livez` and `/healthz`: whether the process works.
struct LiveRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path: String
    let access = AdminAccess.everybody
    let stalls: StallWatch

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        AdminAnswer.health(Health.liveness(stalls))
    }
}

/// `/startupz`: what is being done until the server listens.
struct StartupRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/startupz"
    let access = AdminAccess.everybody
    let progress: StartProgress

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        AdminAnswer.json(.object(progress.report), status: progress.isStarted ? .ok : .serviceUnavailable)
    }
}

/// `/readyz` until there is something that could be ready.
struct NotReadyRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/readyz"
    let access = AdminAccess.everybody
    let progress: StartProgress

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        AdminAnswer.json(.object(progress.report), status: .serviceUnavailable)
    }
}

/// `/readyz`: whether the server takes requests; `?verbose` for details.
struct ReadyRoute: AdminRoute {
    let method = HTTPRequest.Method.get
    let path = "/readyz"
    let access = AdminAccess.everybody
    let health: Health
    let progress: StartProgress
    let node: NodeFacts

    func answer(_ request: IncomingRequest) async -> OutgoingResponse {
        guard progress.isStarted else {
            return AdminAnswer.json(.object(progress.report), status: .serviceUnavailable)
        }
        let report = await health.readiness()
        var members = report.members
        if request.asksFor("verbose") {
            for member in node.report { members[member.key] = member.value }
            members["stalled"] = .array(health.stalls.stalled.map { .string($0) })
        }
        return AdminAnswer.json(.object(members), status: report.isReady ? .ok : .serviceUnavailable)
    }
}
