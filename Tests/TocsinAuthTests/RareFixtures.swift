/// Keys and tokens of the rarer algorithms, made once with Python's `cryptography`.
enum RareFixtures {
    /// `pss-1` (PS256, the RSA key of the other fixtures) and `ed-1` (Ed25519).
    static let keySet = """
        {"keys":[{"kty":"RSA","kid":"pss-1","alg":"PS256","use":"sig","n":"1B0l7xlTjOtq_eOJNWwcdXkCwMEQKhJGs\
        bh7wdNC7TcqBW_3med75VkeY_fSFwN0WqcqufbzKzYopkvifBNStye-Y2U5tHats41eIzhnFTiWDSZYEzbQYhNJYVa9BADZhtEoy\
        OJEtmOlKl50geiGJz5A3q3wmbCL5b1mhs2hDuUAunyDi_gnsd4tnWs6UVey81bIXovglX_c1JK-Zpfi62gGVEPe8iLfNnZEzd7mG\
        fEJzM20p5INvuKzCwNkxLIUkniVqByvJC5IAh5CO3UKCWifN4lt2IGWaz7VcyjyvLNeIBzr9Cn802qksx2lC4I9IZ1bF_mBRX0m8\
        pkV7g2PzQ","e":"AQAB"},{"kty":"OKP","crv":"Ed25519","kid":"ed-1","use":"sig","x":"n-nmSpigbJI2WLC8Ar\
        PCCxasSqrpwgJgS4YBCt5bfqM"}]}
        """

    /// As the other fixtures' tokens, and in the group `staff`; a salt of 32 bytes.
    static let pssToken = """
        eyJhbGciOiJQUzI1NiIsImtpZCI6InBzcy0xIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1\
        YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhw\
        IjoxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXX0.OF3DsABLBNQANEcG7dEVVc0iSgPj6-GcZoQ9QM6OC0JV2BpBmjn5gjVt\
        veLH8K832gKftF_6LjFRyLDi7NwYlVQndTyOG-eKmET7rlkBs7mUOmS6fUZvjnl7Z3X5iE65CvpY67pJcSaabVOZxBvCRFUU2Z8l\
        re9NiESSBSFMIOtn-zXS-GU-nPS9-eD64uYUM7CgEjEDcfOZb2Swcyi9lAvUesngNJ47kQIt5Yj2YCKX-UV5uTk46N-PDkXY8G3k\
        3SlmyWiloqHMkj_vSBF7knE0DczX6BoV4OwtkHXZw_qylEKW7Wv_p5zjstrUFWF4lCfAVB9j8mNulKFzN97MMw
        """

    /// A salt of 20 bytes, which PS256 does not have.
    static let shortSaltToken = """
        eyJhbGciOiJQUzI1NiIsImtpZCI6InBzcy0xIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1\
        YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhw\
        IjoxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXX0.R79qP82LurJ74AZPY_9ODm_djmoMufybgcRNmQPav57uymF7YsPX9TMw\
        GTYUvk3xb4U18jdDq70haE6PH-j4DU8vDdBMtvg-JDjbWocyvjXBfWhPvkaA_kJMqnsrAMtg_ARDsuVxq8mjpLVU35aPMBTKN2va\
        IaEoMTVtULrXDbiGuXrEXHfcw5PqJYO1Ziwxn-cErX6Gc8hGyE3C1P297FVNgm0wpx3mMpetwtfuw0N5Rc4YdKkqKTtF6EszxPkp\
        FBqFprB8fMYC7ho4easpppYd7ekDfNNiJp2Ic6ke4wqlUj0ADh7tGRkjqlHqYSqe14F56lEYkWqo8AD0zCO-fg
        """

    /// By the same key, signed as for RS256.
    static let pkcs1Token = """
        eyJhbGciOiJSUzI1NiIsImtpZCI6InBzcy0xIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1\
        YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhw\
        IjoxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXX0.lV3Ii3umY8AXv-L0rGKWYhTm4T0jd-r_wR9NmPntmVxYuyEnyapyqZOi\
        8Ec5VWm1Ssd-y8bnKqMUtbcXD1JaWJnKwBYNCQ2WRLSvX7nJSzwkhJHtMT5ZcYYWlO28ygSCazAq1Vrb9-T_07RTPhp4E7mnbKWt\
        p8YEFc6BtPAhBSaz3If-zfhIONXvqHFWVi8V6Ao8ZEc8EsBmV81dF23Pf4EWYLiPAZQj0O-f3HdbFmycdrGB84Ol3BY2f7WQ8xen\
        SBpaJ5ZDb_FMUkRnq3oWQkj3DENYIzx_FV0aHtI3YbTajyVygU7LIEqp0lmtPWKgRCdW5GHTyDgcmUXfzrSABw
        """

    /// With the hash of `access-1` by SHA-512.
    static let edToken = """
        eyJhbGciOiJFZERTQSIsImtpZCI6ImVkLTEifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1Y\
        iI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwI\
        joxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXSwiYXRfaGFzaCI6ImpfZ3R0UGlmWkZTX2c2YjRJckpLT0RwbUdGUDlxb0w3U\
        0NaZzh0OGp6cFUifQ.nYIWBTmQq5wctMYKKUgE2kkDBOCscHCIbZuX8jt9m69Hd_mMJ8mYsVMApnvi0FSZqZyFmXgb8b5viHF2KJ\
        niBw
        """

    /// The same by its newer name.
    static let ed25519Token = """
        eyJhbGciOiJFZDI1NTE5Iiwia2lkIjoiZWQtMSJ9.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN\
        1YiI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXh\
        wIjoxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXSwiYXRfaGFzaCI6ImpfZ3R0UGlmWkZTX2c2YjRJckpLT0RwbUdGUDlxb0w\
        3U0NaZzh0OGp6cFUifQ.XXPp9QGQ0bLNWjW33R1wYqP2cAV2EzZkugJTqMrwGDdzg8Fyg8t25xqS97VCb493aa1zUQy1AiEj2zqC\
        QOt_DQ
        """

    /// With the hash of `access-1` by SHA-256.
    static let edOtherHashToken = """
        eyJhbGciOiJFZERTQSIsImtpZCI6ImVkLTEifQ.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJhdWQiOiJhcHAtMSIsInN1Y\
        iI6IjBmOWQiLCJjb2duaXRvOnVzZXJuYW1lIjoiYWxpY2UiLCJ0b2tlbl91c2UiOiJpZCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwI\
        joxODAwMDAzNjAwLCJncm91cHMiOlsic3RhZmYiXSwiYXRfaGFzaCI6IjlNS0VUMFk3V3BPbEY5NkJ0bm9KeUEifQ.OeJN0CC4Fz\
        w7exAI3BY9DYsF-huwoSIG3vYlvoEZ9IV0zUWgoJsVDhlwAEoPXXEcPOaORaKHEr4nb_e6Lc46CQ
        """
}
