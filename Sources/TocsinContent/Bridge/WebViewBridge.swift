import JSON

/// The app's side of a web view: what is injected into pages, and what they may ask for.
///
/// Inject `script` at document start, into the main frame only. On Android use
/// `addDocumentStartJavaScript` with the allowed origins where the web view has it, else run it
/// when the page has started. When the page has finished is too late: its own code has asked.
public struct WebViewBridge: Sendable, Hashable {
    /// What both sides call it.
    public let names: BridgeNames
    /// Whose pages get the token and may send messages.
    public let hosts: LinkGuard

    /// The app that the page is shown in.
    public enum Platform: String, Sendable, Hashable, CaseIterable {
        /// On one of Apple's devices.
        case ios
        /// On Android.
        case android
    }

    /// A bridge for the pages of these hosts.
    public init(names: BridgeNames = .ngwenya, hosts: LinkGuard) {
        self.names = names
        self.hosts = hosts
    }

    /// JavaScript that tells a page its token and platform.
    ///
    /// It checks the page's address itself, so a redirect to elsewhere gets nothing. Without a
    /// token the page learns its platform alone.
    public func script(token: String?, platform: Platform) -> String {
        var body = "window.\(names.platform)=\"\(platform.rawValue)\";"
        if let token { body = "window.\(names.token)=\(Self.literal(token));" + body }
        return checked(body)
    }

    /// JavaScript that gives a page a newer token and dispatches `tocsin-token`; `nil` takes it
    /// away.
    public func tokenScript(_ token: String?) -> String {
        let value = token.map(Self.literal) ?? "null"
        return checked("window.\(names.token)=\(value);window.dispatchEvent(new Event(\"tocsin-token\"));")
    }

    /// What a page asks for; `nil` unless it is the main frame's and of an allowed host.
    ///
    /// - Parameters:
    ///   - body: `WKScriptMessage.body`.
    ///   - isMainFrame: `WKScriptMessage.frameInfo.isMainFrame`.
    ///   - url: The address of the frame.
    public func message(body: Any, isMainFrame: Bool, url: String) -> BridgeMessage? {
        isMainFrame && hosts.opensInside(url) ? BridgeMessage(body: body) : nil
    }

    /// What a page asks for on Android, whose interface has one method for each action.
    public func message(action: String, json: String, isMainFrame: Bool, url: String) -> BridgeMessage? {
        isMainFrame && hosts.opensInside(url) ? BridgeMessage(action: action, json: json) : nil
    }

    private func checked(_ body: String) -> String {
        let names = Self.literal(hosts.names)
        let suffixes = Self.literal(hosts.suffixes)
        return """
            (function(){"use strict";var l=window.location,h=l.hostname.toLowerCase().replace(/\\.$/,"");\
            if(window.top!==window||l.protocol!=="https:"||l.port!=="")return;\
            if(\(names).indexOf(h)===-1&&!\(suffixes).some(function(s){return h.length>s.length&&h.slice(-s.length)===s}))return;\
            \(body)})();
            """
    }

    private static func literal(_ texts: [String]) -> String {
        "[" + texts.map(literal).joined(separator: ",") + "]"
    }

    /// A string literal that is one in JavaScript, in HTML and in an attribute alike.
    static func literal(_ text: String) -> String {
        var literal = ""
        for scalar in JSONValue.string(text).serializedString().unicodeScalars {
            switch scalar {
            case "<": literal += "\\u003c"
            case ">": literal += "\\u003e"
            case "&": literal += "\\u0026"
            case "\u{2028}": literal += "\\u2028"
            case "\u{2029}": literal += "\\u2029"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal
    }
}
