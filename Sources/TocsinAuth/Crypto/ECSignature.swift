import COpenSSL

/// A P-256 signature in its two forms: DER as the crypto library has it, and r‖s as tokens
/// carry it (RFC 7518 §3.4).
enum ECSignature {
    static let rawCount = 64

    /// r‖s, 32 bytes each, of a DER signature.
    static func raw(fromDER bytes: [UInt8]) -> [UInt8]? {
        bytes.withUnsafeBufferPointer { buffer -> [UInt8]? in
            var cursor = buffer.baseAddress
            guard let signature = d2i_ECDSA_SIG(nil, &cursor, buffer.count) else { return nil }
            defer { ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: rawCount)
            let filled = raw.withUnsafeMutableBufferPointer { target -> Bool in
                guard let start = target.baseAddress else { return false }
                return BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
                    && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
            }
            return filled ? raw : nil
        }
    }

    /// The DER form of r‖s; nil unless it is 64 bytes long.
    static func der(fromRaw bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count == rawCount, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = BN_bin2bn(Array(bytes[..<32]), 32, nil)
        let s = BN_bin2bn(Array(bytes[32...]), 32, nil)
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        let count = i2d_ECDSA_SIG(signature, nil)
        guard count > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(count))
        let written = der.withUnsafeMutableBufferPointer { target -> Int32 in
            var cursor = target.baseAddress
            return i2d_ECDSA_SIG(signature, &cursor)
        }
        return written == count ? der : nil
    }
}
