import COpenSSL

/// Makes the simulator's own CA and its server certificate.
enum Certificate {
    /// A CA certificate, signed by its own key, as PEM.
    static func makeAuthority(key: KeyPair) throws(SimulatorError) -> [UInt8] {
        let certificate = try make(commonName: authorityName, issuerName: authorityName, key: key)
        defer { X509_free(certificate) }
        try add(NID_basic_constraints, "critical,CA:TRUE", to: certificate)
        try add(NID_key_usage, "critical,keyCertSign,cRLSign", to: certificate)
        try add(NID_subject_key_identifier, "hash", to: certificate)
        return try signed(certificate, by: key)
    }

    /// A certificate for loopback, signed by the CA's key, as PEM.
    static func makeServer(key: KeyPair, authorityKey: KeyPair) throws(SimulatorError) -> [UInt8] {
        let certificate = try make(commonName: "localhost", issuerName: authorityName, key: key)
        defer { X509_free(certificate) }
        try add(NID_basic_constraints, "critical,CA:FALSE", to: certificate)
        try add(NID_key_usage, "critical,digitalSignature", to: certificate)
        try add(NID_ext_key_usage, "serverAuth", to: certificate)
        try add(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1", to: certificate)
        return try signed(certificate, by: authorityKey)
    }

    /// Whether the PEM certificate is valid for another day at least.
    static func isCurrent(pem: [UInt8]) -> Bool {
        let bio = BIO_new_mem_buf(pem, Int32(pem.count))
        defer { BIO_free(bio) }
        guard let certificate = PEM_read_bio_X509(bio, nil, nil, nil) else { return false }
        defer { X509_free(certificate) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        let isReadable = ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(certificate)) == 1
        return isReadable && days >= 1
    }

    private static let authorityName = "Tocsin simulator CA"
    /// Within the 825 days that strict clients allow.
    private static let lifeSeconds = 800 * 86_400

    private static func make(
        commonName: String,
        issuerName: String,
        key: KeyPair
    ) throws(SimulatorError) -> OpaquePointer {
        guard let certificate = X509_new() else { throw SimulatorError.keys(reason: "no memory for a certificate") }
        let issuer = X509_NAME_new()
        defer { X509_NAME_free(issuer) }
        let serial = Int(UInt32.random(in: 1...UInt32(Int32.max)))
        guard X509_set_version(certificate, 2) == 1,
            ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial) == 1,
            X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != nil,
            X509_gmtime_adj(X509_getm_notAfter(certificate), lifeSeconds) != nil,
            X509_set_pubkey(certificate, key.pointer) == 1,
            setName(X509_get_subject_name(certificate), commonName),
            setName(issuer, issuerName),
            X509_set_issuer_name(certificate, issuer) == 1
        else {
            X509_free(certificate)
            throw SimulatorError.keys(reason: "the certificate of \(commonName) could not be made")
        }
        return certificate
    }

    private static func setName(_ name: OpaquePointer?, _ commonName: String) -> Bool {
        X509_NAME_add_entry_by_txt(name, "CN", utf8String, commonName, -1, -1, 0) == 1
    }

    /// `MBSTRING_UTF8`, a macro of two that Swift does not import.
    private static let utf8String: Int32 = 0x1000

    private static func add(
        _ kind: Int32,
        _ value: String,
        to certificate: OpaquePointer
    ) throws(SimulatorError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, certificate, certificate, nil, nil, 0)
        guard let part = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
            throw SimulatorError.keys(reason: "certificate extension \(value) could not be made")
        }
        defer { X509_EXTENSION_free(part) }
        guard X509_add_ext(certificate, part, -1) == 1 else {
            throw SimulatorError.keys(reason: "certificate extension \(value) could not be added")
        }
    }

    private static func signed(_ certificate: OpaquePointer, by key: KeyPair) throws(SimulatorError) -> [UInt8] {
        guard X509_sign(certificate, key.pointer, EVP_sha256()) > 0 else {
            throw SimulatorError.keys(reason: "a certificate could not be signed")
        }
        return try MemoryBIO.collect { PEM_write_bio_X509($0, certificate) }
    }
}
