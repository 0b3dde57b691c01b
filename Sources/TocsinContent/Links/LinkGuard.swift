/// Decides which links a web view opens by itself; all others go to the system's browser.
///
/// A rule is a host name, or `*.` and a host name. The star stands for one or more labels, never
/// for none: list the bare name beside it. Only https links with the default port are opened
/// inside.
///
/// ```swift
/// let links = LinkGuard(allowed: ["*.mallnline.com", "mallnline.com"])
/// links.opensInside("https://shop.mallnline.com/x")  // true
/// links.opensInside("https://evilmallnline.com")     // false
/// ```
public struct LinkGuard: Sendable, Hashable {
    /// Host names that are allowed as they are.
    let names: [String]
    /// Ends of host names, each with its dot in front.
    let suffixes: [String]

    /// A guard with these rules; a rule that is no host name allows nothing.
    public init(allowed: [String]) {
        var (names, suffixes): ([String], [String]) = ([], [])
        for rule in allowed {
            let isWild = rule.hasPrefix("*.")
            guard let host = HostName(isWild ? String(rule.dropFirst(2)) : rule)?.text else { continue }
            if isWild { suffixes.append("." + host) } else { names.append(host) }
        }
        self.names = names
        self.suffixes = suffixes
    }

    /// Whether a web view may open this link.
    public func opensInside(_ url: String) -> Bool {
        LinkAddress(url).map { allows(host: $0.host) } ?? false
    }

    /// Whether a host name is allowed.
    public func allows(host: String) -> Bool {
        guard let host = HostName(host)?.text else { return false }
        return names.contains(host) || suffixes.contains { host.hasSuffix($0) }
    }
}
