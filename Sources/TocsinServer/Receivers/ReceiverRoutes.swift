import HTTPTypes
import TocsinHTTP

/// The paths of senders: those of products, and last ntfy's, which have no beginning of their own.
struct ReceiverRoutes: Sendable {
    let desk: ReceiverDesk
    /// Nil: there are no monitors.
    let pings: PingDesk?

    /// The paths that begin as no others do.
    private static let paths = [
        "/in/*", "/v2/enqueue", "/v2/change/enqueue", "/message", "/services/*", "/hooks/*",
    ]

    /// The routes; they are to stand behind all others.
    var routes: [HTTPRoute] {
        var routes = Self.paths.map { route(nil, $0) } + (pings.map { Self.routes(of: $0) } ?? [])
        routes += ["/version", "/health"].map { route(.get, $0) }
        var ofNtfy = route(nil, "/*")
        ofNtfy.takes = { ReceiverPlace.isOfNtfy($0, $1) }
        routes.append(ofNtfy)
        return routes
    }

    /// The paths of pings.
    private static func routes(of desk: PingDesk) -> [HTTPRoute] {
        ["/ping/*", "/api/push/*"].map { path in
            var route = HTTPRoute(nil, path) {
                await desk.admission(of: $0)
            } respond: {
                await desk.respond(to: $0)
            }
            (route.maximumBodyBytes, route.overloadStatus) = (desk.maximumBodyBytes, .serviceUnavailable)
            return route.labelled(.receivers)
        }
    }

    private func route(_ method: HTTPRequest.Method?, _ path: String) -> HTTPRoute {
        let desk = desk
        var route = HTTPRoute(method, path) {
            await desk.admission(of: $0)
        } respond: {
            await desk.respond(to: $0)
        }
        (route.maximumBodyBytes, route.overloadStatus) = (desk.maximumBodyBytes, .serviceUnavailable)
        return route.labelled(.receivers)
    }
}
