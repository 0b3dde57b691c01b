/// Keys and tokens made once with Python's `cryptography` and `joserfc`, so that another
/// implementation has the first word.
enum Fixtures {
    static let ecPKCS8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaPX5brrhiE8+BUrM
        SXR7vxiLyqCpkLvOgF4M3peCSH6hRANCAATuBvuEiHsZcGN1JkFXWj3Unnm1kqFg
        SoqvCqQ8a7mrg4DUEgpz9LRT5wzbwLznhZFnRcT7sfd4sMQpjCrruBrw
        -----END PRIVATE KEY-----
        """

    static let ecSEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIGj1+W664YhPPgVKzEl0e78Yi8qgqZC7zoBeDN6Xgkh+oAoGCCqGSM49
        AwEHoUQDQgAE7gb7hIh7GXBjdSZBV1o91J55tZKhYEqKrwqkPGu5q4OA1BIKc/S0
        U+cM28C854WRZ0XE+7H3eLDEKYwq67ga8A==
        -----END EC PRIVATE KEY-----
        """

    static let ecP384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBq3twYUyLauIuu4XYI
        TnNDRk28UhstdsqawVI/PsXf3VW3F5F+bN0iT3K1pxa5NwWhZANiAAR1soGaUPmP
        WoFs8jzTwy9xt4kkBOl1rHQ+bPjE04pIbLUMdbq65Ig91xGbuZrr9rvf7irjTxqv
        /dohOanZ+KcANQS4dl72CGXD1GkpGaN6CMRaQf9uK9XoMlqCq55/L48=
        -----END PRIVATE KEY-----
        """

    static let ecEncrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBDuLf5I/uUw4mHPIjZC
        BsFSAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQ0UwQ9sPkW6053NWC
        Qj0FTQSBkIzH6UV6tNyU0AA2a3Ozx4oqb9qJmFrVolhRbMcO2Sjdk5d+dXq1sTtY
        4kOlxsgbeH5BJwyxYq7RDn8fnImwN2/3qEwLBEp6gBvzc/m4R8BBaU805X1r9wPq
        BFctHFU7WLImaITgITbOGTo48mLeyf9ZLpU119CjcoA6SANpYFRAiN5p2UCf3o3x
        YHRj3OsMkA==
        -----END ENCRYPTED PRIVATE KEY-----
        """

    static let ecPublic = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7gb7hIh7GXBjdSZBV1o91J55tZKh
        YEqKrwqkPGu5q4OA1BIKc/S0U+cM28C854WRZ0XE+7H3eLDEKYwq67ga8A==
        -----END PUBLIC KEY-----
        """

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBFjCBvaADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
        dDAgFw0yNjAxMDEwMDAwMDBaGA8yMDU2MDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
        bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7gb7hIh7GXBjdSZB
        V1o91J55tZKhYEqKrwqkPGu5q4OA1BIKc/S0U+cM28C854WRZ0XE+7H3eLDEKYwq
        67ga8DAKBggqhkjOPQQDAgNIADBFAiA9XL9J+zI5MqzxrnvKcloBZC+hbkopNwvx
        RSCOt1t+egIhAL3EagsMbreOniJhAbPQMRLQiwoNEguEXs9tuTkaC2DU
        -----END CERTIFICATE-----
        """

    static let rsaPKCS8 = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQDUHSXvGVOM62r9
        44k1bBx1eQLAwRAqEkaxuHvB00LtNyoFb/eZ53vlWR5j99IXA3Rapyq59vMrNiim
        S+J8E1K3J75jZTm0dq2zjV4jOGcVOJYNJlgTNtBiE0lhVr0EANmG0SjI4kS2Y6Uq
        XnSB6IYnPkDerfCZsIvlvWaGzaEO5QC6fIOL+Cex3i2dazpRV7LzVshei+CVf9zU
        kr5ml+LraAZUQ97yIt82dkTN3uYZ8QnMzbSnkg2+4rMLA2TEshSSeJWoHK8kLkgC
        HkI7dQoJaJ83iW3YgZZrPtVzKPK8s14gHOv0KfzTaqSzHaULgj0hnVsX+YFFfSby
        mRXuDY/NAgMBAAECggEAFaLnhK0jraMx5bX4//8IJB903W6UFIaKuYQk8492KzZO
        TgGu0v8ezzU4+V+FCZ3rl3enzxJWmZjLqrLg5mEeNdqS/BaOPU9Bxqfr61HMigic
        nbjEkSktNmPbP1eWrjrb9XmOXHdgJO6jIWBDKCEs1gHuoghCG5s7mfKo66U8AYXA
        x1DwjZU7d77KKsNqGZshBd2+Odd6tEtAe1rsevvV7YQnFbXrxJY7NBikJiIEhiGz
        h1Ux2ao8PYOPFUizts2cfFwZ3zXfDMtoMVloS/ZQiQ0Kp4Sv0+GrX0PFJFdDmtUW
        LAZ3QRHAsze/70AOIs8Rt4n4ygFcTMxazhEAc3uHQQKBgQD95b9v59OO2p+oeZIh
        OkKxPfc6QKS87Q+ATy7Y+U59RGAevf6Eno7mkD5zUSWPjGgBNUVKP2FbSpWq3192
        jP8M720clhEp/JcBa+CJpe1VL5oNbclQZInASLazWuEhyWDun3eG3gzB/zDEXF/l
        jhgzON8pyR08qjLJnQocwRZEHQKBgQDV3tIk0MO1o6bC9vuRhrPKaUCcCJ9Q2ri1
        awcnGxgdfeY4eHo4L7v1fyAHJY8S6zIKgV7vfIV8M0jCIrAIH60VRVqBGba5yMtH
        yImO3fXSqxqE5k4jBbLbpt9t88710xb2t3948NpqFfX5WGNlY0BHARJtqU6HFIGj
        lr5S9UlLcQKBgQDZyHOAMtOGKsNeiQEunUHNtMBW6FImeBWe0sz1ckvAKaFlXUVv
        Tm53GO1ojwdv7VjdCGup91m0K/LbggTptKGl382xAowwfqisoHMWvwwn0NAMispu
        uf5qwDRu/ho0l/8cUA7/0YIR+apEFJRxXIQnk7XgqtD4U2mDBMBCz+EghQKBgQDA
        7RrmKQiS3wi80S3Ibhnbmqy01LZaqqN6zAyMw00ytXKrOEsQSkckw0OyDriM2Wuv
        vFpWcR69FkopDj97ZI+vI3vr/7UszKxLmeQ045cwLjdi8ZpEz4wzxsnAlvH4IS6S
        6p7sC2EL17mm74viVvER3C6yi8sR4Xa8imwvy6MNkQKBgDPwRVQMSw/JUzwVIvUA
        WuqoBV1BL0WlJQ9rhKOmy7Fi4f61jkRogZiuGsVXUSgdP8G7xkonocv2zt74OhFT
        8RUKIcHS0mgjEmqqfRVHylu5BXRWBW56QNYjK4sO5JEKi3DB2fPzcNuCD8+l1myZ
        +3jWEhuD94i6d2Ri/5t53w8/
        -----END PRIVATE KEY-----
        """

    static let rsaPKCS1 = """
        -----BEGIN RSA PRIVATE KEY-----
        MIIEpAIBAAKCAQEA1B0l7xlTjOtq/eOJNWwcdXkCwMEQKhJGsbh7wdNC7TcqBW/3
        med75VkeY/fSFwN0WqcqufbzKzYopkvifBNStye+Y2U5tHats41eIzhnFTiWDSZY
        EzbQYhNJYVa9BADZhtEoyOJEtmOlKl50geiGJz5A3q3wmbCL5b1mhs2hDuUAunyD
        i/gnsd4tnWs6UVey81bIXovglX/c1JK+Zpfi62gGVEPe8iLfNnZEzd7mGfEJzM20
        p5INvuKzCwNkxLIUkniVqByvJC5IAh5CO3UKCWifN4lt2IGWaz7VcyjyvLNeIBzr
        9Cn802qksx2lC4I9IZ1bF/mBRX0m8pkV7g2PzQIDAQABAoIBABWi54StI62jMeW1
        +P//CCQfdN1ulBSGirmEJPOPdis2Tk4BrtL/Hs81OPlfhQmd65d3p88SVpmYy6qy
        4OZhHjXakvwWjj1PQcan6+tRzIoInJ24xJEpLTZj2z9Xlq462/V5jlx3YCTuoyFg
        QyghLNYB7qIIQhubO5nyqOulPAGFwMdQ8I2VO3e+yirDahmbIQXdvjnXerRLQHta
        7Hr71e2EJxW168SWOzQYpCYiBIYhs4dVMdmqPD2DjxVIs7bNnHxcGd813wzLaDFZ
        aEv2UIkNCqeEr9Phq19DxSRXQ5rVFiwGd0ERwLM3v+9ADiLPEbeJ+MoBXEzMWs4R
        AHN7h0ECgYEA/eW/b+fTjtqfqHmSITpCsT33OkCkvO0PgE8u2PlOfURgHr3+hJ6O
        5pA+c1Elj4xoATVFSj9hW0qVqt9fdoz/DO9tHJYRKfyXAWvgiaXtVS+aDW3JUGSJ
        wEi2s1rhIclg7p93ht4Mwf8wxFxf5Y4YMzjfKckdPKoyyZ0KHMEWRB0CgYEA1d7S
        JNDDtaOmwvb7kYazymlAnAifUNq4tWsHJxsYHX3mOHh6OC+79X8gByWPEusyCoFe
        73yFfDNIwiKwCB+tFUVagRm2ucjLR8iJjt310qsahOZOIwWy26bfbfPO9dMW9rd/
        ePDaahX1+VhjZWNARwESbalOhxSBo5a+UvVJS3ECgYEA2chzgDLThirDXokBLp1B
        zbTAVuhSJngVntLM9XJLwCmhZV1Fb05udxjtaI8Hb+1Y3QhrqfdZtCvy24IE6bSh
        pd/NsQKMMH6orKBzFr8MJ9DQDIrKbrn+asA0bv4aNJf/HFAO/9GCEfmqRBSUcVyE
        J5O14KrQ+FNpgwTAQs/hIIUCgYEAwO0a5ikIkt8IvNEtyG4Z25qstNS2WqqjeswM
        jMNNMrVyqzhLEEpHJMNDsg64jNlrr7xaVnEevRZKKQ4/e2SPryN76/+1LMysS5nk
        NOOXMC43YvGaRM+MM8bJwJbx+CEukuqe7AthC9e5pu+L4lbxEdwusovLEeF2vIps
        L8ujDZECgYAz8EVUDEsPyVM8FSL1AFrqqAVdQS9FpSUPa4SjpsuxYuH+tY5EaIGY
        rhrFV1EoHT/Bu8ZKJ6HL9s7e+DoRU/EVCiHB0tJoIxJqqn0VR8pbuQV0VgVuekDW
        IyuLDuSRCotwwdnz83Dbgg/PpdZsmft41hIbg/eIundkYv+bed8PPw==
        -----END RSA PRIVATE KEY-----
        """

    static let rsaShort = """
        -----BEGIN PRIVATE KEY-----
        MIICeQIBADANBgkqhkiG9w0BAQEFAASCAmMwggJfAgEAAoGBAKQ1PSCBAgOneeHn
        IgWFJDTocmtn0eW8dOpV8vxlbNKkL2YM9fAxSZ6Ox3yFLZZen0JQ0GQFcxL3AU1I
        /G7BG11M2XaPo4Rho24iLq2rOu4nArnOshZzS6ZYi/ZABvus6VD01y4dKeqcMUr0
        vMXncVoK3t1nFOjQWM6b6BzbcrKJAgMBAAECgYEAjVtrWKzV8BFfIfIX3oqkBYvI
        298O2Ocn+oas20vwp1BBoWcs3G2Bg6ZD4lS/Tr/791mcW045pqzOCRr4e9tu0rxV
        DdT2vZBOFEncauAufQ26oPoP563RbYKze6jvDmIDLR9DWzHj724XSiyQ+0fHJSPC
        SYAtrTjVTvbjOrXsbxUCQQDUrxMc1EMy4tprEEitz59PpRUKRwoebfU0XZrgfmhB
        p8/tjWQaX3CRX21tEofuJZRKZDu+e/uQv0eLNDQHr4UvAkEAxaa5PKxGrpoTtXIX
        qnOJxm/zJbXQ5z7F9HRHwnW5ndNIvdlSVq/OvLgeGehq4kifrCTYom84MJUPFtPk
        gIvFxwJBAJdKTsM0LvUUsCB2vex+A6ppGPVtoUISH9n3OAO3h7wkfmFSMcIc3/tZ
        MYLkKrN6IellMaaHlWTa3C6mnNhWv9sCQQCAgZ/aNOBX0VGTHTUJ28juPgdGs2m5
        j/TAtYGai1Q9qwuWc9+3AONXjBX2HkiwCyvVjrdTFSDhZWjEHMxqT3YtAkEAlERV
        xnFESRggqPVY71RUHbcGkJNFzkdFfsQ52N956u4QlN2QQGsSf2pIwVwj6MIHIluk
        FOmmbgKdn6s+52pr2A==
        -----END PRIVATE KEY-----
        """

    /// `ec-1` (ES256), `rsa-1` (RS256), and a symmetric key, which must not count.
    static let keySet = """
        {"keys":[{"crv":"P-256","x":"7gb7hIh7GXBjdSZBV1o91J55tZKhYEqKrwqkPGu5q4M","y":"gNQSCnP0tFPnDNvAvOeFk\
        WdFxPux93iwxCmMKuu4GvA","kty":"EC","kid":"ec-1","alg":"ES256","use":"sig"},{"n":"1B0l7xlTjOtq_eOJNWw\
        cdXkCwMEQKhJGsbh7wdNC7TcqBW_3med75VkeY_fSFwN0WqcqufbzKzYopkvifBNStye-Y2U5tHats41eIzhnFTiWDSZYEzbQYhN\
        JYVa9BADZhtEoyOJEtmOlKl50geiGJz5A3q3wmbCL5b1mhs2hDuUAunyDi_gnsd4tnWs6UVey81bIXovglX_c1JK-Zpfi62gGVEP\
        e8iLfNnZEzd7mGfEJzM20p5INvuKzCwNkxLIUkniVqByvJC5IAh5CO3UKCWifN4lt2IGWaz7VcyjyvLNeIBzr9Cn802qksx2lC4I\
        9IZ1bF_mBRX0m8pkV7g2PzQ","e":"AQAB","kty":"RSA","kid":"rsa-1","alg":"RS256","use":"sig"},{"kty":"oct\
        ","kid":"secret","k":"c2VjcmV0"}]}
        """

    /// Issuer `https://id.example`, audience `app-1`, sub `0f9d`, user `alice`, from 1
    /// 800 000 000 for an hour.
    static let ecToken = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiIsImtpZCI6ImVjLTEifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiO\
        iJhcHAtMSIsInN1YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwM\
        DAwMDAwMCwiZXhwIjoxODAwMDAzNjAwfQ.wDQnR49rdL-z5j6X76K9JD6zfe6rjWSfgYCpHxAMyAKE5RXECsSrEVhKdO-t9_n-DY\
        Kq_jweH6t2n3mR1XmpkA
        """

    static let rsaToken = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiIsImtpZCI6InJzYS0xIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQi\
        OiJhcHAtMSIsInN1YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgw\
        MDAwMDAwMCwiZXhwIjoxODAwMDAzNjAwfQ.IyjIrsQF-j-2_fO56Mw-wqipYa65g_cwN4sBt55UCCRgLul9TBXAuXbxfKOKqUe3S\
        BzbNcSuCmeCO4nsaGWWWTbC4SOWb6ReHnUJR7Uf8NhdsJCLxNAt493UYUH_jO8ZRAJrKHHY2wmQhhIrBiVjT_jFbXRO34HymeLtA\
        -9yve5tJxlDn6FKuZG3la2BUvzQmwgEaz4J30l3bhzhiJfBJXsUdG3uOy5vcQexMw4MT_vppmvRfqkFBMDdvrGtw2kBsTmli_UrJ\
        3zRRAjO08MOL73zCT15GzEC0J7QA8o90Ob8Ef0nKrFM3rnx_owbOSxgDkASexjQLmvaLqa5r_vxlg
        """

    static let hs256Secret = "correct horse battery staple 0123456789"
    static let hsToken = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1YiI\
        6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIjo\
        xODAwMDAzNjAwfQ.QiLQ6LU-d4Xy7QViFq2TZIjNgNo0ZkcpCi0zO085yc4
        """

    /// Signed with HS256 under the text of the public key `ec-1`.
    static let confusedToken = """
        eyJhbGciOiAiSFMyNTYiLCAia2lkIjogImVjLTEifQ.eyJpc3MiOiAiaHR0cHM6Ly9pZC5leGFtcGxlIiwgImF1ZCI6ICJhcHAtM\
        SIsICJzdWIiOiAiMGY5ZCIsICJjb2duaXRvOnVzZXJuYW1lIjogImFsaWNlIiwgInRva2VuX3VzZSI6ICJpZCIsICJpYXQiOiAxO\
        DAwMDAwMDAwLCAiZXhwIjogMTgwMDAwMzYwMH0.8Wpd5VNuGXuQVZCD7__gKt39_XVMctKZAGFy7HTGdLU
        """

    /// Of `open sesame`, by Python's hashlib.
    static let passwordHash = """
        $scrypt$ln=15,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$uFDby5L21KPdiJ2LzPh8JWD7mRrTUMVzk1hGEkkYclc
        """
}
