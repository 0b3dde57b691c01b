import Encodings
import JSON

/// A push request that keeps the rules of RFC 8030, RFC 8188 and RFC 8292.
struct WebPushRequest {
    let topic: String?
    /// What the browser reads; `nil` for a real one, which alone can.
    let plaintext: [UInt8]?
    private let payload: JSONValue
    /// How long the sender wants it kept for a browser that is away.
    let lifeSeconds: Int64

    private static let maximumBodyBytes = 4096
    private static let maximumTopicCharacters = 32
    private static let maximumTokenSeconds: Int64 = 86_400
    private static let urgencies = ["very-low", "low", "normal", "high"]

    /// - Parameters:
    ///   - origins: The service's own, one of which the token must name as `aud`.
    ///   - nowSeconds: Unix time.
    init(
        _ request: WireRequest,
        to browser: WebPushBrowsers.Browser,
        origins: [String],
        nowSeconds: Int64
    ) throws(WebPushRefusal) {
        try Self.checkToken(request, browser, origins: origins, nowSeconds: nowSeconds)
        topic = try Self.checkedHeaders(request)
        guard request.bodyBytes <= Self.maximumBodyBytes else {
            throw WebPushRefusal(413, "PayloadTooLarge", "the body has \(request.bodyBytes) bytes, allowed are 4096")
        }
        guard request.value("content-encoding") == "aes128gcm" else {
            throw WebPushRefusal(400, "BadEncoding", "content-encoding must be aes128gcm")
        }
        lifeSeconds = request.value("ttl").flatMap { Int64($0) } ?? 0
        plaintext = try browser.reading?.plaintext(of: request.body).get()
        payload = plaintext.map { (try? JSONParser.parse($0)) ?? .string(String(decoding: $0, as: UTF8.self)) } ?? .null
    }

    /// The sender's own id of the delivery.
    var deliveryKey: String? { payload["notification"]?["data"]?["deliveryId"]?.stringValue }

    /// What the browser shows of it; `nil` where only the browser knows.
    func arrival(nowMilliseconds: Int64) -> Arrival? {
        guard plaintext != nil else { return nil }
        let notification = payload["notification"]
        var arrival = Arrival(replaceKey: notification?["tag"]?.stringValue)
        arrival.title = notification?["title"]?.stringValue ?? ""
        arrival.body = notification?["body"]?.stringValue ?? ""
        arrival.isShown = payload["silent"]?.boolValue != true
        arrival.badge = payload["app_badge"]?.intValue.map { Int($0) }
        arrival.endsMilliseconds = nowMilliseconds + min(lifeSeconds, 1 << 40) * 1000
        arrival.keeping = topic.map { .newestOfKey($0) } ?? .each
        return arrival
    }

    private static func checkedHeaders(_ request: WireRequest) throws(WebPushRefusal) -> String? {
        guard let life = request.value("ttl") else { throw WebPushRefusal(400, "MissingTtl", "ttl is missing") }
        guard let seconds = Int64(life), seconds >= 0 else {
            throw WebPushRefusal(400, "BadTtl", "ttl \(life) is no number of seconds")
        }
        if let urgency = request.value("urgency"), !urgencies.contains(urgency) {
            throw WebPushRefusal(400, "BadUrgency", "urgency is none of \(urgencies.joined(separator: ", "))")
        }
        for name in ["ttl", "urgency", "topic", "authorization", "content-encoding"]
        where request.values(name).count > 1 {
            throw WebPushRefusal(400, "DuplicateHeader", "\(name) stands more than once")
        }
        guard let topic = request.value("topic") else { return nil }
        guard (1...maximumTopicCharacters).contains(topic.utf8.count), Base64URL.isAlphabet(topic) else {
            throw WebPushRefusal(400, "BadWebPushTopic", "topic is not 1 to 32 characters of base64url")
        }
        return topic
    }

    private static func checkToken(
        _ request: WireRequest,
        _ browser: WebPushBrowsers.Browser,
        origins: [String],
        nowSeconds: Int64
    ) throws(WebPushRefusal) {
        guard let header = request.value("authorization"), header.prefix(6).lowercased() == "vapid " else {
            throw WebPushRefusal(401, "MissingVapid", "authorization is not of the form: vapid t=<token>, k=<key>")
        }
        var parts: [Substring: Substring] = [:]
        for part in header.dropFirst(6).split(separator: ",") {
            let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { parts[pair[0]] = pair[1] }
        }
        guard let text = parts["t"], let key = parts["k"], let token = JSONWebToken(text),
            let point = Base64URL.decoded(key), let signer = KeyPair.publicHalf(point: point)
        else { throw WebPushRefusal(401, "BadVapid", "t is no JSON Web Token, or k no P-256 key") }
        guard key == browser.serverKey else {
            throw WebPushRefusal(403, "VapidPkHashMismatch", "k is not the key that the browser subscribed with")
        }
        guard token.isES256(by: signer) else {
            throw WebPushRefusal(403, "BadJwtToken", "the token is not signed with ES256 by k")
        }
        let audience = token.claims["aud"]?.stringValue ?? ""
        guard origins.contains(audience) else {
            throw WebPushRefusal(403, "BadJwtToken", "aud is \(audience), not \(origins.first ?? "")")
        }
        let end = token.claims["exp"]?.intValue ?? 0
        guard end > nowSeconds, end <= nowSeconds + maximumTokenSeconds else {
            throw WebPushRefusal(403, "BadJwtToken", "exp is \(end - nowSeconds) seconds from now, not 1 to 86400")
        }
        let subject = token.claims["sub"]?.stringValue ?? ""
        guard subject.hasPrefix("mailto:") || subject.hasPrefix("https://") else {
            throw WebPushRefusal(403, "BadJwtToken", "sub is neither a mailto: nor an https: address")
        }
    }
}

extension Base64URL {
    fileprivate static func isAlphabet(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x5F
        }
    }
}
