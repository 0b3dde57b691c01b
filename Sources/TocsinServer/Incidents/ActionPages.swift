import HTTPTypes
import Metrics
import NIOCore
import TocsinAPI
import TocsinCore
import TocsinHTTP

/// The pages behind action links: a title and one button, which does what the link is for; of
/// incidents, and of messages whose button has the server call an address.
///
/// To look at a page does nothing, so scanners of links press nothing.
struct ActionPages: Sendable {
    let incidents: IncidentBook
    /// Nil: there are no such buttons.
    let buttons: ButtonService?
    let sealer: any Sealer
    let report: @Sendable (String) -> String
    let time: any TimeSource
    private let guesses: KeyGuesses

    private static let maximumBodyBytes = 4096

    init(
        incidents: IncidentBook,
        buttons: ButtonService?,
        sealer: any Sealer,
        report: @escaping @Sendable (String) -> String,
        time: any TimeSource,
        limited: CounterSet<AuthMetrics.LimitedKind>?
    ) {
        guesses = KeyGuesses(refused: limited?[.network])
        (self.incidents, self.buttons) = (incidents, buttons)
        (self.sealer, self.report, self.time) = (sealer, report, time)
    }

    /// The routes.
    var routes: [HTTPRoute] {
        var route = HTTPRoute(nil, IncidentLinks.path + "*", admit: Self.admission) { request in
            await RequestOrigin.$current.withValue(RequestOrigin(request.source)) { await respond(to: request) }
        }
        route.maximumBodyBytes = Self.maximumBodyBytes
        return [route]
    }

    private static let admission: @Sendable (IncomingRequest) async -> BodyAdmission = { request in
        let length = request.header("content-length").flatMap { Int($0) } ?? 0
        guard length <= maximumBodyBytes else {
            return .refused(page(.contentTooLarge, "Too much", "<p>This page takes no body.</p>"))
        }
        return .admitted(owner: nil)
    }

    private func respond(to request: IncomingRequest) async -> OutgoingResponse {
        let (address, now) = (request.clientAddress, time.now())
        guard [.get, .head, .post].contains(request.method) else {
            let text = "<p>Links are opened, and their button is pressed.</p>"
            return Self.page(.methodNotAllowed, "Not so", text, [("allow", "GET, HEAD, POST")])
        }
        let token = String(request.path.dropFirst(IncidentLinks.path.count))
        guard let link = IncidentLink(token: token, sealer) else {
            if let link = ButtonLink(token: token, sealer) { return await respond(to: request, link, token) }
            if let seconds = guesses.note(address, now: now) {
                let text = "<p>Too many links that mean nothing came from your address. Try again in a minute.</p>"
                return Self.page(.tooManyRequests, "Not now", text, [("retry-after", "\(seconds)")])
            }
            return Self.page(.notFound, "No such link", "<p>This link means nothing here. Was it cut?</p>")
        }
        do throws(ServiceError) {
            guard request.method == .post else { return Self.page(of: try await incidents.found(by: link), link) }
            if case .over(let words) = try await incidents.found(by: link) { return Self.over(words) }
            try await incidents.follow(link)
            return AuthAnswer.seeOther(token, [])
        } catch {
            return failure(error)
        }
    }

    private func respond(to request: IncomingRequest, _ link: ButtonLink, _ token: String) async -> OutgoingResponse {
        guard let buttons else { return Self.over("This server makes no calls.") }
        do throws(ServiceError) {
            let linked = try await buttons.found(by: link)
            guard request.method == .post, case .found = linked else { return Self.page(of: linked) }
            try await buttons.follow(link)
            return AuthAnswer.seeOther(token, [])
        } catch {
            return failure(error)
        }
    }

    private func failure(_ error: ServiceError) -> OutgoingResponse {
        switch error {
        case .tooManyTries(let words, let seconds):
            let text = "<p>\(MarkupText.escaped(words))</p>"
            return Self.page(.tooManyRequests, "Not now", text, [("retry-after", "\(seconds)")])
        case .unavailable, .uncertain, .limit:
            let text = "<p>The server cannot do this just now. Try again.</p>"
            return Self.page(.serviceUnavailable, "Not now", text, [("retry-after", "5")])
        case .unauthorized: return Self.over("There is nothing any more that this link could do.")
        default:
            let text = "<p>Something went wrong inside the server. Its log has it under \(report("\(error)")).</p>"
            return Self.page(.internalServerError, "Not done", text)
        }
    }
}

// What pages say.
extension ActionPages {
    private static func page(of linked: LinkedIncident, _ link: IncidentLink) -> OutgoingResponse {
        switch linked {
        case .over(let words): return over(words)
        case .found(let found):
            let said = "<p>\(MarkupText.escaped("\(found.name): \(standing(of: found))"))</p>"
            let title = found.incident["title"].text ?? ""
            guard let button = button(link.action, in: found.state) else {
                let isOver = found.state == .resolved && link.action != .resolve
                return page(isOver ? .gone : .ok, title, said)
            }
            return page(
                .ok,
                title,
                said + "\n<form method=\"post\"><button>\(button)</button></form>"
            )
        }
    }

    private static func page(of linked: LinkedButton) -> OutgoingResponse {
        switch linked {
        case .over(let words): return over(words)
        case .found(let found):
            let button = "<form method=\"post\"><button>\(MarkupText.escaped(found.title))</button></form>"
            let asks = "<p>\(MarkupText.escaped(found.topicName)): the button has this server make a call.</p>"
            guard let press = found.press else { return page(.ok, found.title, asks + "\n" + button) }
            let at = MarkupText.escaped(press.at.iso8601)
            switch press.outcome {
            case nil: return page(.ok, found.title, "<p>Pressed at \(at). The answer is waited for.</p>")
            case .answered(let status)? where press.outcome?.isDone == true:
                return page(.ok, found.title, "<p>Done at \(at), with status \(status).</p>")
            case .answered(let status)?:
                let said = "<p>Pressed at \(at). The answer was a failure, status \(status).</p>"
                return page(.ok, found.title, said + "\n" + button)
            case .failed(let words)?:
                let said = "<p>Pressed at \(at). There was no answer: \(MarkupText.escaped(words)).</p>"
                return page(.ok, found.title, said + "\n" + button)
            }
        }
    }

    /// The button's words; nil where the link would change nothing.
    private static func button(_ action: IncidentLink.Action, in state: IncidentState) -> String? {
        switch (action, state) {
        case (_, .resolved), (.acknowledge, .acknowledged), (.snooze, .snoozed): nil
        case (.acknowledge, _): "Acknowledge"
        case (.snooze, _): "Snooze for 1 hour"
        case (.resolve, _): "Resolve"
        }
    }

    private static func standing(of found: LinkedIncident.Found) -> String {
        let incident = found.incident
        switch found.state {
        case .open: return "open since \(incident["openedAt"].text ?? "")"
        case .acknowledged:
            let by = incident["acknowledgedBy"].text.map { " by \($0)" } ?? ""
            return "acknowledged\(by) at \(incident["acknowledgedAt"].text ?? "")"
        case .snoozed: return "snoozed until \(incident["snoozedUntil"].text ?? "")"
        case .resolved:
            let by = incident["resolvedBy"].text.map { " by \($0)" } ?? ""
            return "resolved\(by) at \(incident["resolvedAt"].text ?? "")"
        }
    }

    private static func over(_ words: String) -> OutgoingResponse {
        page(.gone, "Over", "<p>\(MarkupText.escaped(words))</p>")
    }

    private static func page(
        _ status: HTTPResponse.Status,
        _ title: String,
        _ body: String,
        _ fields: [(name: String, value: String)] = []
    ) -> OutgoingResponse {
        AuthAnswer.page(status, title: MarkupText.escaped(title), body: body, fields)
    }
}
