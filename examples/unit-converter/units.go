package main

import (
	"math"
	"slices"
)

// A unit is a scale of one quantity: a value in it, times factor, plus offset, is the value in the base unit.
type unit struct {
	quantity string
	// In symbols the case of a letter means something: a mW is no MW. In names it does not.
	symbols, names words
	factor, offset float64
}

type words = []string

// words are what a unit goes by; the first is what it is called in an answer.
func (u unit) words() words { return slices.Concat(u.symbols, u.names) }

func (u unit) String() string { return u.words()[0] }

// in converts a value in this unit to another of the same quantity. Units that differ by a factor alone are divided
// once, so that what is exact in decimal stays so as far as it can.
func (u unit) in(value float64, to unit) float64 {
	if u.offset == to.offset {
		return value * u.factor / to.factor
	}
	return round((value*u.factor + u.offset - to.offset) / to.factor)
}

// isBelowZero says whether a value is a temperature that nothing can have.
func (u unit) isBelowZero(value float64) bool {
	return u.quantity == "temperature" && round(value*u.factor+u.offset) < 0
}

const (
	// What a sum of offsets is rounded to: they are some hundreds, and leave an error in the thirteenth digit behind the
	// point, which is all that is left where they cancel each other out.
	perUnit = 1e11
	// From here on that error is behind the digits of a float64.
	roundedBelow = 1e4
)

func round(value float64) float64 {
	if math.Abs(value) >= roundedBelow {
		return value
	}
	return math.Round(value*perUnit) / perUnit
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
	{"length", words{"m"}, words{"meter", "metre"}, 1, 0},
	{"length", words{"nm"}, words{"nanometer", "nanometre"}, 1e-9, 0},
	{"length", words{"um", "µm"}, words{"micrometer", "micrometre", "micron"}, 1e-6, 0},
	{"length", words{"mm"}, words{"millimeter", "millimetre"}, 1e-3, 0},
	{"length", words{"cm"}, words{"centimeter", "centimetre"}, 1e-2, 0},
	{"length", words{"km"}, words{"kilometer", "kilometre"}, 1e3, 0},
	{"length", words{"in"}, words{"inch", "inches"}, foot / 12, 0},
	{"length", nil, words{"ft", "foot", "feet"}, foot, 0},
	{"length", nil, words{"yd", "yard"}, 3 * foot, 0},
	{"length", words{"mi"}, words{"mile"}, 5280 * foot, 0},
	{"length", nil, words{"nmi", "nautical mile"}, 1852, 0},
	{"length", words{"au"}, words{"astronomical unit"}, 149597870700, 0},
	{"length", words{"ly"}, words{"light-year", "light year"}, 9460730472580800, 0},

	{"mass", words{"kg"}, words{"kilogram"}, 1, 0},
	{"mass", words{"mg"}, words{"milligram"}, 1e-6, 0},
	{"mass", words{"g"}, words{"gram"}, 1e-3, 0},
	{"mass", words{"t"}, words{"tonne", "metric ton"}, 1e3, 0},
	{"mass", nil, words{"oz", "ounce"}, pound / 16, 0},
	{"mass", nil, words{"lb", "pound"}, pound, 0},
	{"mass", words{"st"}, words{"stone"}, 14 * pound, 0},
	{"mass", nil, words{"ton", "short ton"}, 2000 * pound, 0},

	{"temperature", words{"K"}, words{"kelvin"}, 1, 0},
	{"temperature", words{"degC", "°C", "C"}, words{"celsius"}, 1, kelvin},
	{"temperature", words{"degF", "°F", "F"}, words{"fahrenheit"}, 5.0 / 9, kelvin - 32*5.0/9},
	{"temperature", words{"degR", "°R"}, words{"rankine"}, 5.0 / 9, 0},

	{"time", words{"s"}, words{"sec", "second"}, 1, 0},
	{"time", words{"ns"}, words{"nanosecond"}, 1e-9, 0},
	{"time", words{"us", "µs"}, words{"microsecond"}, 1e-6, 0},
	{"time", words{"ms"}, words{"millisecond"}, 1e-3, 0},
	{"time", nil, words{"min", "minute"}, 60, 0},
	{"time", words{"h"}, words{"hr", "hour"}, 3600, 0},
	{"time", words{"d"}, words{"day"}, day, 0},
	{"time", nil, words{"wk", "week"}, 7 * day, 0},
	{"time", nil, words{"yr", "year"}, year, 0},

	{"data", words{"B"}, words{"byte"}, 1, 0},
	{"data", words{"bit", "b"}, words{"bits"}, 1.0 / 8, 0},
	{"data", words{"kB"}, words{"kilobyte"}, 1e3, 0},
	{"data", words{"MB"}, words{"megabyte"}, 1e6, 0},
	{"data", words{"GB"}, words{"gigabyte"}, 1e9, 0},
	{"data", words{"TB"}, words{"terabyte"}, 1e12, 0},
	{"data", words{"KiB"}, words{"kibibyte"}, 1 << 10, 0},
	{"data", words{"MiB"}, words{"mebibyte"}, 1 << 20, 0},
	{"data", words{"GiB"}, words{"gibibyte"}, 1 << 30, 0},
	{"data", words{"TiB"}, words{"tebibyte"}, 1 << 40, 0},
	{"data", words{"kbit", "kb"}, words{"kilobit"}, 1e3 / 8, 0},
	{"data", words{"Mbit", "Mb"}, words{"megabit"}, 1e6 / 8, 0},
	{"data", words{"Gbit", "Gb"}, words{"gigabit"}, 1e9 / 8, 0},

	{"area", words{"m2", "m²"}, words{"square meter", "square metre"}, 1, 0},
	{"area", words{"km2", "km²"}, words{"square kilometer", "square kilometre"}, 1e6, 0},
	{"area", words{"ha"}, words{"hectare"}, 1e4, 0},
	{"area", words{"ft2", "ft²"}, words{"sqft", "square foot", "square feet"}, foot * foot, 0},
	{"area", nil, words{"acre"}, 43560 * foot * foot, 0},
	{"area", words{"mi2", "mi²"}, words{"square mile"}, 5280 * foot * 5280 * foot, 0},

	{"volume", words{"m3", "m³"}, words{"cubic meter", "cubic metre"}, 1, 0},
	{"volume", words{"L", "l"}, words{"liter", "litre"}, 1e-3, 0},
	{"volume", words{"mL", "ml"}, words{"milliliter", "millilitre"}, 1e-6, 0},
	{"volume", nil, words{"gal", "gallon"}, gallon, 0},
	{"volume", nil, words{"qt", "quart"}, gallon / 4, 0},
	{"volume", words{"pt"}, words{"pint"}, gallon / 8, 0},
	{"volume", nil, words{"cup"}, gallon / 16, 0},
	{"volume", nil, words{"floz", "fl oz", "fluid ounce"}, gallon / 128, 0},
	{"volume", nil, words{"tbsp", "tablespoon"}, gallon / 256, 0},
	{"volume", nil, words{"tsp", "teaspoon"}, gallon / 768, 0},

	{"speed", words{"m/s"}, words{"meter per second", "metre per second"}, 1, 0},
	{"speed", words{"km/h"}, words{"kph", "kmh"}, 1.0 / 3.6, 0},
	{"speed", nil, words{"mph", "mi/h"}, 5280 * foot / 3600, 0},
	{"speed", words{"kn", "kt"}, words{"knot"}, 1852.0 / 3600, 0},

	{"energy", words{"J"}, words{"joule"}, 1, 0},
	{"energy", words{"kJ"}, words{"kilojoule"}, 1e3, 0},
	// A Calorie is 1000 calories to those who count what they eat.
	{"energy", words{"cal", "calorie", "calories"}, nil, 4.184, 0},
	{"energy", words{"kcal"}, words{"kilocalorie"}, 4184, 0},
	{"energy", words{"Wh"}, words{"watt-hour"}, 3600, 0},
	{"energy", words{"kWh"}, words{"kilowatt-hour"}, 3.6e6, 0},
	{"energy", nil, words{"BTU"}, 1055.05585262, 0},

	{"power", words{"W"}, words{"watt"}, 1, 0},
	{"power", words{"kW"}, words{"kilowatt"}, 1e3, 0},
	{"power", words{"MW"}, words{"megawatt"}, 1e6, 0},
	{"power", nil, words{"hp", "horsepower"}, 745.699871582, 0},

	{"pressure", words{"Pa"}, words{"pascal"}, 1, 0},
	{"pressure", words{"hPa"}, words{"hectopascal"}, 100, 0},
	{"pressure", words{"kPa"}, words{"kilopascal"}, 1e3, 0},
	{"pressure", nil, words{"bar"}, 1e5, 0},
	{"pressure", words{"mbar"}, words{"millibar"}, 100, 0},
	{"pressure", nil, words{"atm", "atmosphere"}, 101325, 0},
	{"pressure", nil, words{"psi"}, 6894.757293168, 0},
	{"pressure", words{"mmHg"}, words{"torr"}, 133.322387415, 0},

	{"angle", words{"rad"}, words{"radian"}, 1, 0},
	{"angle", words{"deg", "°"}, words{"degree"}, math.Pi / 180, 0},
	{"angle", nil, words{"gon", "gradian"}, math.Pi / 200, 0},
	{"angle", nil, words{"turn", "revolution"}, 2 * math.Pi, 0},
}
