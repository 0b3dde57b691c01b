import COpenSSL
import Encodings
import TocsinCore

/// The text of a private key as people paste it, made into PEM and read.
struct PrivateKeyText {
    private static let maximumBytes = 32 * 1024

    private let pem: String

    init(_ text: String) throws(KeyError) {
        guard text.utf8.count <= Self.maximumBytes else {
            throw KeyError("The key text has \(text.utf8.count) bytes; a private key in PEM has at most 32 KiB.")
        }
        pem = Self.unfolded(text)
        try checkLabel()
    }

    /// The key, with a clear error for everything that is not one.
    func handle() throws(KeyError) -> KeyHandle {
        let bytes = Array(pem.utf8)
        let key = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(memory) }
            // Without a callback the library would ask for a passphrase on the terminal.
            return PEM_read_bio_PrivateKey(memory, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let key else {
            throw KeyError(
                "The private key cannot be read (\(LibraryError.take())). It must be the whole PEM text, from "
                    + "-----BEGIN to the END line, with its line breaks (or \\n in their place)."
            )
        }
        return KeyHandle(owning: key)
    }

    private func checkLabel() throws(KeyError) {
        let labels = Self.labels(in: pem)
        guard !labels.isEmpty else {
            throw KeyError(
                "The text is not a private key in PEM: it has no line -----BEGIN PRIVATE KEY-----. Give the contents of "
                    + "the key file, not its name."
            )
        }
        if labels.contains("ENCRYPTED PRIVATE KEY") || pem.contains("Proc-Type: 4,ENCRYPTED") {
            throw KeyError(
                "The private key is encrypted with a passphrase. Decrypt it first: openssl pkcs8 -in KEY -out PLAIN."
            )
        }
        if labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) { return }
        if labels.contains(where: { $0.hasSuffix("CERTIFICATE") }) {
            throw KeyError("The text is a certificate, not a private key. Give the private key that belongs to it.")
        }
        if labels.contains(where: { $0.hasSuffix("PUBLIC KEY") }) {
            throw KeyError("The text is a public key, not a private key. Give the private key that belongs to it.")
        }
        throw KeyError("The PEM text holds \(labels.joined(separator: ", ")), not a private key.")
    }

    /// Line breaks for literal `\n`, and the PEM for base 64 of a PEM.
    private static func unfolded(_ text: String) -> String {
        if text.contains("-----BEGIN ") {
            return withLineBreaks(text)
        }
        guard let bytes = Base64URL.decodedPasted(text) else { return text }
        return withLineBreaks(String(decoding: bytes, as: UTF8.self))
    }

    /// Real line breaks, and lines without the white space at their ends that
    /// indented settings files bring.
    private static func withLineBreaks(_ text: String) -> String {
        var lines: [[UInt8]] = [[]]
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\n"): lines.append([])
            case UInt8(ascii: "\\"):
                if bytes.popFirst() == UInt8(ascii: "n") { lines.append([]) }
            case UInt8(ascii: "\r"), UInt8(ascii: "\t"): continue
            case UInt8(ascii: " ") where lines.last?.isEmpty ?? true: continue
            default: lines[lines.count - 1].append(byte)
            }
        }
        return lines.map { line in
            let end = line.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
            return String(decoding: line[..<end], as: UTF8.self) + "\n"
        }.joined()
    }

    /// What stands between `-----BEGIN ` and `-----`, of each block.
    private static func labels(in pem: String) -> [String] {
        pem.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("-----BEGIN "), line.hasSuffix("-----"), line.count > 16 else { return nil }
            return String(line.dropFirst(11).dropLast(5))
        }
    }
}
