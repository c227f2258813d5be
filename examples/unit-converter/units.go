package main

import (
	"math"
	"slices"
)

// A unit is a scale of one quantity: a value in it, times factor, plus offset, is the value in the base unit.
type unit struct {
	quantity string
	symbol   string
	names    []string
	factor   float64
	offset   float64
}

// in converts a value in this unit to another of the same quantity. Units that differ by a factor alone are divided
// once, so that what is exact in decimal stays so as far as it can.
func (u unit) in(value float64, to unit) float64 {
	if u.offset == to.offset {
		return value * u.factor / to.factor
	}
	return (value*u.factor + u.offset - to.offset) / to.factor
}

const (
	foot   = 0.3048
	pound  = 0.45359237
	gallon = 0.003785411784
	day    = 86400
	// The Gregorian year.
	year   = 365.2425 * day
	kelvin = 273.15
)

// The factors are those of the SI brochure and of NIST SP 811: exact, but for those that are rounded there too.
var units = []unit{
	{"length", "m", []string{"meter", "metre"}, 1, 0},
	{"length", "nm", []string{"nanometer", "nanometre"}, 1e-9, 0},
	{"length", "um", []string{"µm", "micrometer", "micrometre", "micron"}, 1e-6, 0},
	{"length", "mm", []string{"millimeter", "millimetre"}, 1e-3, 0},
	{"length", "cm", []string{"centimeter", "centimetre"}, 1e-2, 0},
	{"length", "km", []string{"kilometer", "kilometre"}, 1e3, 0},
	{"length", "in", []string{"inch", "inches"}, foot / 12, 0},
	{"length", "ft", []string{"foot", "feet"}, foot, 0},
	{"length", "yd", []string{"yard"}, 3 * foot, 0},
	{"length", "mi", []string{"mile"}, 5280 * foot, 0},
	{"length", "nmi", []string{"nautical mile"}, 1852, 0},
	{"length", "au", []string{"astronomical unit"}, 149597870700, 0},
	{"length", "ly", []string{"light-year", "light year"}, 9460730472580800, 0},

	{"mass", "kg", []string{"kilogram"}, 1, 0},
	{"mass", "mg", []string{"milligram"}, 1e-6, 0},
	{"mass", "g", []string{"gram"}, 1e-3, 0},
	{"mass", "t", []string{"tonne", "metric ton"}, 1e3, 0},
	{"mass", "oz", []string{"ounce"}, pound / 16, 0},
	{"mass", "lb", []string{"pound"}, pound, 0},
	{"mass", "st", []string{"stone"}, 14 * pound, 0},
	{"mass", "ton", []string{"short ton"}, 2000 * pound, 0},

	{"temperature", "K", []string{"kelvin"}, 1, 0},
	{"temperature", "degC", []string{"°C", "C", "celsius"}, 1, kelvin},
	{"temperature", "degF", []string{"°F", "F", "fahrenheit"}, 5.0 / 9, kelvin - 32*5.0/9},
	{"temperature", "degR", []string{"°R", "rankine"}, 5.0 / 9, 0},

	{"time", "s", []string{"sec", "second"}, 1, 0},
	{"time", "ns", []string{"nanosecond"}, 1e-9, 0},
	{"time", "us", []string{"µs", "microsecond"}, 1e-6, 0},
	{"time", "ms", []string{"millisecond"}, 1e-3, 0},
	{"time", "min", []string{"minute"}, 60, 0},
	{"time", "h", []string{"hr", "hour"}, 3600, 0},
	{"time", "d", []string{"day"}, day, 0},
	{"time", "wk", []string{"week"}, 7 * day, 0},
	{"time", "yr", []string{"year"}, year, 0},

	{"data", "B", []string{"byte"}, 1, 0},
	{"data", "bit", []string{"b"}, 1.0 / 8, 0},
	{"data", "kB", []string{"kilobyte"}, 1e3, 0},
	{"data", "MB", []string{"megabyte"}, 1e6, 0},
	{"data", "GB", []string{"gigabyte"}, 1e9, 0},
	{"data", "TB", []string{"terabyte"}, 1e12, 0},
	{"data", "KiB", []string{"kibibyte"}, 1 << 10, 0},
	{"data", "MiB", []string{"mebibyte"}, 1 << 20, 0},
	{"data", "GiB", []string{"gibibyte"}, 1 << 30, 0},
	{"data", "TiB", []string{"tebibyte"}, 1 << 40, 0},
	{"data", "kbit", []string{"kilobit"}, 1e3 / 8, 0},
	{"data", "Mbit", []string{"megabit"}, 1e6 / 8, 0},
	{"data", "Gbit", []string{"gigabit"}, 1e9 / 8, 0},

	{"area", "m2", []string{"m²", "square meter", "square metre"}, 1, 0},
	{"area", "km2", []string{"km²", "square kilometer", "square kilometre"}, 1e6, 0},
	{"area", "ha", []string{"hectare"}, 1e4, 0},
	{"area", "ft2", []string{"ft²", "sqft", "square foot", "square feet"}, foot * foot, 0},
	{"area", "acre", nil, 43560 * foot * foot, 0},
	{"area", "mi2", []string{"mi²", "square mile"}, 5280 * foot * 5280 * foot, 0},

	{"volume", "m3", []string{"m³", "cubic meter", "cubic metre"}, 1, 0},
	{"volume", "L", []string{"l", "liter", "litre"}, 1e-3, 0},
	{"volume", "mL", []string{"ml", "milliliter", "millilitre"}, 1e-6, 0},
	{"volume", "gal", []string{"gallon"}, gallon, 0},
	{"volume", "qt", []string{"quart"}, gallon / 4, 0},
	{"volume", "pt", []string{"pint"}, gallon / 8, 0},
	{"volume", "cup", nil, gallon / 16, 0},
	{"volume", "floz", []string{"fl oz", "fluid ounce"}, gallon / 128, 0},
	{"volume", "tbsp", []string{"tablespoon"}, gallon / 256, 0},
	{"volume", "tsp", []string{"teaspoon"}, gallon / 768, 0},

	{"speed", "m/s", []string{"meter per second", "metre per second"}, 1, 0},
	{"speed", "km/h", []string{"kph", "kmh"}, 1.0 / 3.6, 0},
	{"speed", "mph", []string{"mi/h"}, 5280 * foot / 3600, 0},
	{"speed", "kn", []string{"kt", "knot"}, 1852.0 / 3600, 0},

	{"energy", "J", []string{"joule"}, 1, 0},
	{"energy", "kJ", []string{"kilojoule"}, 1e3, 0},
	{"energy", "cal", []string{"calorie"}, 4.184, 0},
	{"energy", "kcal", []string{"kilocalorie"}, 4184, 0},
	{"energy", "Wh", []string{"watt-hour"}, 3600, 0},
	{"energy", "kWh", []string{"kilowatt-hour"}, 3.6e6, 0},
	{"energy", "BTU", nil, 1055.05585262, 0},

	{"power", "W", []string{"watt"}, 1, 0},
	{"power", "kW", []string{"kilowatt"}, 1e3, 0},
	{"power", "MW", []string{"megawatt"}, 1e6, 0},
	{"power", "hp", []string{"horsepower"}, 745.699871582, 0},

	{"pressure", "Pa", []string{"pascal"}, 1, 0},
	{"pressure", "hPa", []string{"hectopascal"}, 100, 0},
	{"pressure", "kPa", []string{"kilopascal"}, 1e3, 0},
	{"pressure", "bar", nil, 1e5, 0},
	{"pressure", "mbar", []string{"millibar"}, 100, 0},
	{"pressure", "atm", []string{"atmosphere"}, 101325, 0},
	{"pressure", "psi", nil, 6894.757293168, 0},
	{"pressure", "mmHg", []string{"torr"}, 133.322387415, 0},

	{"angle", "rad", []string{"radian"}, 1, 0},
	{"angle", "deg", []string{"°", "degree"}, math.Pi / 180, 0},
	{"angle", "gon", []string{"gradian"}, math.Pi / 200, 0},
	{"angle", "turn", []string{"revolution"}, 2 * math.Pi, 0},
}

// words are what a unit goes by.
func (u unit) words() []string {
	return slices.Concat([]string{u.symbol}, u.names)
}
