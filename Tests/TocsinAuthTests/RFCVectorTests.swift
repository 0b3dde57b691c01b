import Encodings
import TocsinAuth
import Testing

/// The examples of RFC 7515, appendix A.
@Suite("Signatures of RFC 7515")
struct RFCVectorTests {
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    @Test("A.1: HS256")
    func hs256() throws {
        let secret = try #require(
            Base64URL.decoded("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        )
        let key = try HMACKey(secret: secret)
        let signed = Array(("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + Self.claims).utf8)
        #expect(Base64URL.encoded(key.signature(for: signed)) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test("A.2: RS256")
    func rs256() throws {
        let modulus = """
            ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-\
            pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapH\
            g665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4F\
            RWyuXpoQ
            """
        let signature = """
            cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t\
            1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12j\
            zDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQ\
            Ge77Rw
            """
        let key = try PublicKey(
            modulus: #require(Base64URL.decoded(modulus)),
            exponent: #require(Base64URL.decoded("AQAB"))
        )
        let signed = Array(("eyJhbGciOiJSUzI1NiJ9." + Self.claims).utf8)
        let bytes = try #require(Base64URL.decoded(signature))
        #expect(key.verifies(bytes, for: signed))
        #expect(!key.verifies(bytes, for: signed + [0]))
    }

    @Test("A.3: ES256")
    func es256() throws {
        let key = try PublicKey(
            x: #require(Base64URL.decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")),
            y: #require(Base64URL.decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
        )
        let signed = Array(("eyJhbGciOiJFUzI1NiJ9." + Self.claims).utf8)
        let signature = try #require(
            Base64URL.decoded("DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        )
        #expect(key.verifies(signature, for: signed))
        #expect(!key.verifies(signature, for: signed + [0]))
    }

    @Test("RFC 8037, A.4: Ed25519")
    func ed25519() throws {
        let key = try PublicKey(
            ed25519: #require(Base64URL.decoded("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
        )
        let signed = Array("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc".utf8)
        let signature = try #require(
            Base64URL.decoded("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
        )
        #expect(key.verifies(signature, for: signed))
        #expect(!key.verifies(signature, for: signed + [0]))
    }
}
