import TocsinAuth
import TocsinCore
import TocsinHTTP

/// What single values must satisfy beyond their kind.
enum SettingRules {
    static func issuerProblem(_ text: String) -> SettingProblem? {
        guard text != LocalTokens.issuer else {
            return "that is the issuer of this server's own tokens; name your provider's"
        }
        return nil
    }

    static func httpsProblem(_ text: String) -> SettingProblem? {
        guard text.hasPrefix("https://"), hasHost(text) else {
            return "write an https address, or save the key set and name the file in TOCSIN_JWKS_FILE"
        }
        return nil
    }

    static func addressProblem(_ text: String) -> SettingProblem? {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text) else {
            return "write an address that begins with https://HOST or http://HOST"
        }
        return nil
    }

    /// Browsers write an origin without a path and without a slash at its end.
    static func originProblem(_ text: String) -> SettingProblem? {
        if text == "*" { return nil }
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), hasHost(text), text.count(of: "/") == 2,
            !text.contains("?"), !text.contains("#"), !text.contains("*")
        else {
            return "write origins as browsers do, https://HOST or https://HOST:PORT with nothing behind, or * for any"
        }
        return nil
    }

    static func networkProblem(_ text: String) -> SettingProblem? {
        guard AddressNetwork(text) == nil else { return nil }
        return "write IP addresses or networks with commas between, such as 127.0.0.1,10.0.0.0/8,fd00::/8, or none"
    }

    /// RFC 9110 §5.1.
    static func fieldNameProblem(_ text: String) -> SettingProblem? {
        let isName = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        return isName ? nil : "write names of header fields with commas between, such as x-app-version,x-trace-id"
    }

    static func appleIDProblem(_ text: String) -> SettingProblem? {
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && text.utf8.count <= 64
        return isPlain ? nil : "write the 10 letters and digits that Apple shows"
    }

    static func apnsKeyProblem(_ text: String) -> SettingProblem? {
        keyProblem(text, .es256, "Apple's keys are for ES256; give the contents of the .p8 file")
    }

    static func fcmKeyProblem(_ text: String) -> SettingProblem? {
        keyProblem(text, .rs256, "a service account's key is for RS256; give private_key of its key file")
    }

    static func vapidKeyProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try VAPIDKey(privateText: text)
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    static func subjectProblem(_ text: String) -> SettingProblem? {
        let isMail = text.hasPrefix("mailto:") && text.dropFirst(7).split(separator: "@").count == 2
        guard isMail || (text.hasPrefix("https://") && hasHost(text)),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "write mailto: with your address, or an https address" }
        return nil
    }

    static func hmacProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try HMACKey(secret: Array(text.utf8))
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    static func serverKeyProblem(_ text: String) -> SettingProblem? {
        do throws(KeyError) {
            _ = try ServerKey(text: text)
            return nil
        } catch {
            return SettingProblem(error.description)
        }
    }

    private static func keyProblem(_ text: String, _ kind: SignatureAlgorithm, _ advice: String) -> SettingProblem? {
        do throws(KeyError) {
            return try PrivateKey(pem: text).kind == kind ? nil : SettingProblem(advice)
        } catch {
            return SettingProblem(error.description)
        }
    }

    private static func hasHost(_ address: String) -> Bool {
        guard let start = address.range(ofScheme: "://") else { return false }
        let host = address[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !host.isEmpty && !host.contains("@") && address.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension String {
    fileprivate func count(of character: Character) -> Int { count { $0 == character } }

    /// Where the text after the first `separator` begins.
    fileprivate func range(ofScheme separator: String) -> Index? {
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(separator) { return rest.index(rest.startIndex, offsetBy: separator.count) }
            rest.removeFirst()
        }
        return nil
    }
}
