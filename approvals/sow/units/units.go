// Package units writes and reads amounts of money: how many decimals a
// currency's smallest unit stands for. It computes nothing and knows no
// document; whoever shows an amount, page or ceremony, writes it the same way.
package units

import (
	"strconv"
	"strings"
)

// The decimals of the currencies that ISO 4217 lists and that do not have two.
var decimals = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0, "UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
	"XCR": Micro,
}

// Micro is the scale of amount_micro (5.4.3) and of the private currency the
// specification uses in its examples.
const Micro = 6

// twoDecimals are the other currencies of ISO 4217.
const twoDecimals = " AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD YER ZAR ZMW ZWG "

// Of returns the decimals of a currency and whether they are known. The
// specification does not say what an amount counts (5.5.1): this reads it as
// the smallest unit of the currency. Where a sender meant a smaller unit, the
// owner would pay less than the page says, never more.
func Of(currency string) (int, bool) {
	if n, ok := decimals[currency]; ok {
		return n, true
	}
	if len(currency) == 3 && strings.Contains(twoDecimals, " "+currency+" ") {
		return 2, true
	}
	return 0, false
}

// Decimal writes an amount of the smallest unit with so many decimals, at most
// two of them kept for nothing: 2500000 of six is 2.50.
func Decimal(n int64, scale int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	digits := strconv.FormatInt(n, 10)
	for len(digits) <= scale {
		digits = "0" + digits
	}
	whole, frac := digits[:len(digits)-scale], digits[len(digits)-scale:]
	for len(frac) > 2 && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	if frac != "" {
		frac = "." + frac
	}
	return sign + thousands(whole) + frac
}

// Plain writes an amount as it is typed: no commas, no currency.
func Plain(n int64, code string) string {
	scale, _ := Of(code)
	return strings.ReplaceAll(Decimal(n, scale), ",", "")
}

// Parse reads an amount that a person typed, such as 12.50 or 1,250, in the
// smallest unit of the currency, and false for what is none or is finer than
// that unit.
func Parse(text, code string) (int64, bool) {
	scale, _ := Of(code)
	whole, frac, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), ".")
	frac = strings.TrimRight(frac, "0")
	if whole == "" || len(whole) > 16 || len(frac) > scale || strings.Trim(whole+frac, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", scale-len(frac)), 10, 64)
	return n, err == nil && n <= 1<<53-1
}

// Number writes a whole number with commas.
func Number(n int64) string {
	if n < 0 {
		return "-" + thousands(strconv.FormatInt(-n, 10))
	}
	return thousands(strconv.FormatInt(n, 10))
}

func thousands(digits string) string {
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
