import COpenSSL

/// The two forms of a P-256 signature: DER (libcrypto) and r‖s, 64 bytes (JSON Web
/// Signature, RFC 7518 §3.4).
enum ECDSASignature {
    static func der(fromRaw raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 64, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let numbers = raw.withUnsafeBufferPointer { bytes -> (OpaquePointer?, OpaquePointer?) in
            guard let start = bytes.baseAddress else { return (nil, nil) }
            return (BN_bin2bn(start, 32, nil), BN_bin2bn(start + 32, 32, nil))
        }
        guard ECDSA_SIG_set0(signature, numbers.0, numbers.1) == 1 else { return nil }
        var length = i2d_ECDSA_SIG(signature, nil)
        guard length > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(length))
        der.withUnsafeMutableBufferPointer { bytes in
            var cursor = bytes.baseAddress
            length = i2d_ECDSA_SIG(signature, &cursor)
        }
        return Array(der.prefix(Int(length)))
    }

    static func raw(fromDER der: [UInt8]) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var cursor = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let written = raw.withUnsafeMutableBufferPointer { bytes -> Bool in
            guard let start = bytes.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
        }
        return written ? raw : nil
    }
}
