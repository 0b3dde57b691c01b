import HTTPTypes
import NIOSSL
import Synchronization

/// What a reload may change of the front: who may come from where, what is at which path, and which
/// requests are logged.
///
/// A class, so that reading it is the copy of one reference.
final class FrontRules: Sendable {
    let origins: CrossOrigin
    let proxies: TrustedProxies
    let routes: [HTTPRoute]
    let requestLog: RequestLogPolicy

    init(_ settings: HTTPServerSettings, routes: [HTTPRoute]) {
        origins = CrossOrigin(settings.crossOrigin)
        proxies = TrustedProxies(settings.trustedProxies)
        self.routes = routes
        requestLog = settings.requestLog
    }

    /// The routes that a request may mean, whatever their methods.
    func routes(for request: IncomingRequest) -> [HTTPRoute] {
        let meant = routes.filter { $0.covers(request) }
        guard meant.contains(where: { $0.takes != nil }),
            routes.contains(where: { $0.takes == nil && !$0.isPage && $0.covers(request.path) })
        else { return meant }
        return meant.filter { $0.takes == nil }
    }

    /// The longest body at a path, where routes say another than is usual.
    func maximumBodyBytes(at path: String, _ method: HTTPRequest.Method) -> Int? {
        routes.first { $0.maximumBodyBytes != nil && $0.covers(path, method) }?.maximumBodyBytes
    }

    /// The status for who has too much waiting, where routes say another than is usual.
    func overloadStatus(at path: String, _ method: HTTPRequest.Method) -> HTTPResponse.Status? {
        routes.first { $0.overloadStatus != nil && $0.covers(path, method) }?.overloadStatus
    }
}

/// The rules in use, which may be others from one request to the next.
final class CurrentRules: Sendable {
    private let rules: Mutex<FrontRules>

    init(_ rules: FrontRules) { self.rules = Mutex(rules) }

    var value: FrontRules { rules.withLock { $0 } }

    func replace(with new: FrontRules) { rules.withLock { $0 = new } }
}

/// A change of a running server that has been checked, and cannot fail any more.
package struct HTTPServerChange: Sendable {
    /// nil: the server speaks no TLS.
    let tls: (context: NIOSSLContext, end: Int?)?
    let rules: FrontRules
}

extension HTTPServer {
    /// Reads and checks what may change while the server runs: the files of TLS, origins, proxies,
    /// routes, and which requests are logged.
    ///
    /// Nothing is changed yet. Throws why the files of TLS cannot be used.
    package func change(
        to settings: HTTPServerSettings,
        routes: [HTTPRoute]
    ) throws(HTTPServerError) -> HTTPServerChange {
        HTTPServerChange(tls: try settings.tls?.makeContext(), rules: FrontRules(settings, routes: routes))
    }

    /// Serves by the change from now on; connections that are open keep their certificate.
    package func apply(_ change: HTTPServerChange) {
        if let context = change.tls { tls.replace(with: context) }
        parts.responder.rules.replace(with: change.rules)
    }
}
